# Written by `dynafold docs`: a change of the mapping makes it anew.
terraform {
  required_version = ">= 1.5.0"

  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 6.29.0, < 7.0.0"
    }
@archive@  }
}

variable "table_name" {
  description = "The table's name"
  type        = string
  default     = "@table@"
}
