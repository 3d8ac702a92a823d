resource "aws_scheduler_schedule" "@name@" {
  name_prefix         = "roll-up-"
  description         = @description@
  schedule_expression = @schedule@

  flexible_time_window {
    mode = "OFF"
  }

  target {
    arn      = aws_lambda_function.roll_up.arn
    role_arn = aws_iam_role.roll_up_schedule.arn
    input    = @input@

    retry_policy {
      maximum_retry_attempts = 0
    }
  }
}
