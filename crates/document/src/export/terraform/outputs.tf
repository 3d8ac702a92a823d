output "table_name" {
  description = "The table's name"
  value       = aws_dynamodb_table.table.name
}

output "table_arn" {
  description = "The table's ARN"
  value       = aws_dynamodb_table.table.arn
}
