resource "aws_appautoscaling_target" "@name@" {
@region@  service_namespace  = "dynamodb"
  resource_id        = "table/${aws_dynamodb_table.table.name}@index@"
  scalable_dimension = "dynamodb:@dimension@:@word@CapacityUnits"
  min_capacity       = @min@
  max_capacity       = @max@
@first@}

resource "aws_appautoscaling_policy" "@name@" {
@region@  name               = "@name@"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.@name@.service_namespace
  resource_id        = aws_appautoscaling_target.@name@.resource_id
  scalable_dimension = aws_appautoscaling_target.@name@.scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value     = @target@
    disable_scale_in = var.pause_scale_in

    predefined_metric_specification {
      predefined_metric_type = "DynamoDB@word@CapacityUtilization"
    }
  }
}
