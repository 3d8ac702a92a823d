# Sums shards on a schedule: schedule -> function -> the items that hold the sums.
locals {
  roll_up_plain = substr(replace(var.table_name, ".", "-"), 0, 47)
  roll_up_name  = local.roll_up_plain == var.table_name ? "roll-up-${local.roll_up_plain}" : "roll-up-${local.roll_up_plain}-${substr(sha256(var.table_name), 0, 8)}"

  roll_up_function = <<-TEXT
@function@  TEXT
}

data "archive_file" "roll_up" {
  type        = "zip"
  output_path = "${path.module}/roll_up.zip"

  source {
    content  = local.roll_up_function
    filename = "index.py"
  }
}

data "aws_caller_identity" "roll_up" {}

resource "aws_iam_role" "roll_up" {
  name_prefix = "roll-up-"

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

resource "aws_iam_role_policy" "roll_up" {
  name = "roll-up"
  role = aws_iam_role.roll_up.id

  policy = jsonencode({
    Version = "2012-10-17"

    Statement = [
      {
        Sid    = "ReadShardsAndWriteSums"
        Effect = "Allow"

        Action = [
          "dynamodb:Scan",
          "dynamodb:UpdateItem",
        ]

        Resource = aws_dynamodb_table.table.arn
      },
      {
        Sid    = "Log"
        Effect = "Allow"

        Action = [
          "logs:CreateLogStream",
          "logs:PutLogEvents",
        ]

        Resource = "${aws_cloudwatch_log_group.roll_up.arn}:*"
      },
    ]
  })
}

resource "aws_cloudwatch_log_group" "roll_up" {
  name              = "/aws/lambda/${local.roll_up_name}"
  retention_in_days = 30
}

resource "aws_lambda_function" "roll_up" {
  function_name    = local.roll_up_name
  filename         = data.archive_file.roll_up.output_path
  source_code_hash = data.archive_file.roll_up.output_base64sha256
  runtime          = "python3.13"
  handler          = "index.handler"
  timeout          = 900
  memory_size      = 1024
  role             = aws_iam_role.roll_up.arn

  logging_config {
    log_format = "Text"
    log_group  = aws_cloudwatch_log_group.roll_up.name
  }

  environment {
    variables = {
      TABLE = aws_dynamodb_table.table.name
    }
  }
}

resource "aws_iam_role" "roll_up_schedule" {
  name_prefix = "roll-up-schedule-"

  assume_role_policy = jsonencode({
    Version = "2012-10-17"

    Statement = [
      {
        Effect = "Allow"

        Principal = {
          Service = "scheduler.amazonaws.com"
        }

        Action = "sts:AssumeRole"

        Condition = {
          StringEquals = {
            "aws:SourceAccount" = data.aws_caller_identity.roll_up.account_id
          }
        }
      },
    ]
  })
}

resource "aws_iam_role_policy" "roll_up_schedule" {
  name = "call"
  role = aws_iam_role.roll_up_schedule.id

  policy = jsonencode({
    Version = "2012-10-17"

    Statement = [
      {
        Effect   = "Allow"
        Action   = ["lambda:InvokeFunction"]
        Resource = aws_lambda_function.roll_up.arn
      },
    ]
  })
}
