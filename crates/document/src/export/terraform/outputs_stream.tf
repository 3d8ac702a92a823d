output "stream_arn" {
  description = "The ARN of its stream"
  value       = aws_dynamodb_table.table.stream_arn
}
