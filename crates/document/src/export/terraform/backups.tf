
# Backups on a schedule, which outlive the configuration.
resource "aws_backup_vault" "table" {
  name = "@vault@"

  lifecycle {
    prevent_destroy = true
  }
}

resource "aws_iam_role" "backup" {
  name_prefix = "backup-"
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Effect = "Allow"
        Principal = {
          Service = "backup.amazonaws.com"
        }
        Action = "sts:AssumeRole"
      },
    ]
  })
}

data "aws_partition" "current" {}

resource "aws_iam_role_policy_attachment" "backup" {
  role       = aws_iam_role.backup.name
  policy_arn = "arn:${data.aws_partition.current.partition}:iam::aws:policy/service-role/AWSBackupServiceRolePolicyForBackup"
}

resource "aws_backup_plan" "table" {
  name = "@vault@"

  rule {
    rule_name         = "scheduled"
    target_vault_name = aws_backup_vault.table.name
    schedule          = @schedule@

    lifecycle {
      delete_after = @days@
    }
  }
}

resource "aws_backup_selection" "table" {
  name         = "table"
  plan_id      = aws_backup_plan.table.id
  iam_role_arn = aws_iam_role.backup.arn
  resources    = [aws_dynamodb_table.table.arn]
}
