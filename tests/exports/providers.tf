# The providers that a Terraform export names.
terraform {
  required_providers {
    archive = {
      source  = "hashicorp/archive"
      version = ">= 2.4.0"
    }

    aws = {
      source  = "hashicorp/aws"
      version = ">= 6.29.0, < 7.0.0"
    }
  }
}
