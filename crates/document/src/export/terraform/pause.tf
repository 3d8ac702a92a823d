# Before an event that is to find its capacity ready, apply with -var pause_scale_in=true and raise the
# capacity; apply without it when the event is over.
variable "pause_scale_in" {
  description = "Whether capacity only grows for now"
  type        = bool
  default     = false
}
