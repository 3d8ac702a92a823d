output "archive_bucket" {
  description = "Where expired items are kept"
  value       = aws_s3_bucket.archive.bucket
}

output "archive_queue" {
  description = "Tells which records could not be kept"
  value       = aws_sqs_queue.archive.url
}
