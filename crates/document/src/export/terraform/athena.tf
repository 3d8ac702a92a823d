
# Defines the archive as a table of Athena: run it once, from Athena's saved queries.
resource "aws_athena_named_query" "archive" {
  name     = "Define the archive of ${var.table_name}"
  database = "default"
  query    = <<-SQL
    CREATE EXTERNAL TABLE IF NOT EXISTS @name@ (item string)
    PARTITIONED BY (day string)
    ROW FORMAT DELIMITED FIELDS TERMINATED BY '\001' LINES TERMINATED BY '\n'
    LOCATION 's3://${aws_s3_bucket.archive.bucket}/${var.table_name}/'
    TBLPROPERTIES (
      'projection.enabled' = 'true',
      'projection.day.type' = 'date',
      'projection.day.format' = 'yyyy/MM/dd',
      'projection.day.range' = '2024/01/01,NOW',
      'storage.location.template' = 's3://${aws_s3_bucket.archive.bucket}/${var.table_name}/$${day}'
    )
  SQL
}
