# What expires: stream -> function -> bucket. The function is called only for what DynamoDB itself deleted.
locals {
  archive_plain = substr(replace(var.table_name, ".", "-"), 0, 47)
  archive_name  = local.archive_plain == var.table_name ? "archive-${local.archive_plain}" : "archive-${local.archive_plain}-${substr(sha256(var.table_name), 0, 8)}"

  archive_function = <<-TEXT
@function@  TEXT
}

data "archive_file" "archive" {
  type        = "zip"
  output_path = "${path.module}/archive.zip"

  source {
    content  = local.archive_function
    filename = "index.py"
  }
}

resource "aws_s3_bucket" "archive" {
  bucket_prefix = "archive-"
}

resource "aws_s3_bucket_public_access_block" "archive" {
  bucket                  = aws_s3_bucket.archive.id
  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

resource "aws_s3_bucket_server_side_encryption_configuration" "archive" {
  bucket = aws_s3_bucket.archive.id

  rule {
    apply_server_side_encryption_by_default {
      sse_algorithm = "AES256"
    }
  }
}

resource "aws_s3_bucket_lifecycle_configuration" "archive" {
  bucket = aws_s3_bucket.archive.id

  rule {
    id     = "colder"
    status = "Enabled"

    filter {}

    transition {
      days          = 30
      storage_class = "GLACIER"
    }
  }
}

resource "aws_iam_role" "archive" {
  name_prefix = "archive-"

  assume_role_policy = jsonencode({
    Version = "2012-10-17"

    Statement = [
      {
        Effect = "Allow"

        Principal = {
          Service = "lambda.amazonaws.com"
        }

        Action = "sts:AssumeRole"
      },
    ]
  })
}

resource "aws_iam_role_policy" "archive" {
  name = "archive"
  role = aws_iam_role.archive.id

  policy = jsonencode({
    Version = "2012-10-17"

    Statement = [
      {
        Sid    = "ReadStream"
        Effect = "Allow"

        Action = [
          "dynamodb:DescribeStream",
          "dynamodb:GetRecords",
          "dynamodb:GetShardIterator",
        ]

        Resource = aws_dynamodb_table.table.stream_arn
      },
      {
        Sid      = "ListStreams"
        Effect   = "Allow"
        Action   = ["dynamodb:ListStreams"]
        Resource = "${aws_dynamodb_table.table.arn}/stream/*"
      },
      {
        Sid      = "Keep"
        Effect   = "Allow"
        Action   = ["s3:PutObject"]
        Resource = "${aws_s3_bucket.archive.arn}/${var.table_name}/*"
      },
      {
        Sid      = "TellWhatIsLost"
        Effect   = "Allow"
        Action   = ["sqs:SendMessage"]
        Resource = aws_sqs_queue.archive.arn
      },
      {
        Sid    = "Log"
        Effect = "Allow"

        Action = [
          "logs:CreateLogStream",
          "logs:PutLogEvents",
        ]

        Resource = "${aws_cloudwatch_log_group.archive.arn}:*"
      },
    ]
  })
}

# Says which records of the stream could not be kept for as long as it held them.
resource "aws_sqs_queue" "archive" {
  name                      = local.archive_name
  message_retention_seconds = 1209600
  sqs_managed_sse_enabled   = true
}

resource "aws_cloudwatch_log_group" "archive" {
  name              = "/aws/lambda/${local.archive_name}"
  retention_in_days = 30
}

resource "aws_lambda_function" "archive" {
  function_name    = local.archive_name
  filename         = data.archive_file.archive.output_path
  source_code_hash = data.archive_file.archive.output_base64sha256
  runtime          = "python3.13"
  handler          = "index.handler"
  timeout          = 60
  memory_size      = 256
  role             = aws_iam_role.archive.arn

  logging_config {
    log_format = "Text"
    log_group  = aws_cloudwatch_log_group.archive.name
  }

  environment {
    variables = {
      BUCKET = aws_s3_bucket.archive.bucket
      PREFIX = "${var.table_name}/"
    }
  }
}

resource "aws_lambda_event_source_mapping" "archive" {
  event_source_arn                   = aws_dynamodb_table.table.stream_arn
  function_name                      = aws_lambda_function.archive.arn
  starting_position                  = "TRIM_HORIZON"
  batch_size                         = 1000
  maximum_batching_window_in_seconds = 300
  bisect_batch_on_function_error     = true
  depends_on                         = [aws_iam_role_policy.archive]

  filter_criteria {
    filter {
      pattern = "{\"eventName\":[\"REMOVE\"],\"userIdentity\":{\"type\":[\"Service\"],\"principalId\":[\"dynamodb.amazonaws.com\"]}}"
    }
  }

  destination_config {
    on_failure {
      destination_arn = aws_sqs_queue.archive.arn
    }
  }
}
