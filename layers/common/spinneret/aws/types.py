"""boto3's types. Their stubs aren't installed where the code runs: there each of them is Any."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types_boto3_apigatewaymanagementapi import ApiGatewayManagementApiClient
    from types_boto3_dynamodb import DynamoDBClient
    from types_boto3_dynamodb.type_defs import (
        ConditionCheckTypeDef,
        DeleteTypeDef,
        KeysAndAttributesTypeDef,
        PutTypeDef,
        QueryInputTypeDef,
        TransactWriteItemTypeDef,
        UpdateTypeDef,
    )
    from types_boto3_kms import KMSClient
    from types_boto3_lambda import LambdaClient
    from types_boto3_s3 import S3Client
    from types_boto3_s3.type_defs import CompletedPartTypeDef, ObjectTypeDef
    from types_boto3_sqs import SQSClient
    from types_boto3_sqs.type_defs import MessageTypeDef, SendMessageRequestTypeDef
    from types_boto3_stepfunctions import SFNClient
else:
    ApiGatewayManagementApiClient = Any
    CompletedPartTypeDef = Any
    ConditionCheckTypeDef = Any
    DeleteTypeDef = Any
    DynamoDBClient = Any
    KMSClient = Any
    KeysAndAttributesTypeDef = Any
    LambdaClient = Any
    MessageTypeDef = Any
    ObjectTypeDef = Any
    PutTypeDef = Any
    QueryInputTypeDef = Any
    S3Client = Any
    SFNClient = Any
    SQSClient = Any
    SendMessageRequestTypeDef = Any
    TransactWriteItemTypeDef = Any
    UpdateTypeDef = Any

__all__ = [
    "ApiGatewayManagementApiClient",
    "CompletedPartTypeDef",
    "ConditionCheckTypeDef",
    "DeleteTypeDef",
    "DynamoDBClient",
    "KMSClient",
    "KeysAndAttributesTypeDef",
    "LambdaClient",
    "MessageTypeDef",
    "ObjectTypeDef",
    "PutTypeDef",
    "QueryInputTypeDef",
    "S3Client",
    "SFNClient",
    "SQSClient",
    "SendMessageRequestTypeDef",
    "TransactWriteItemTypeDef",
    "UpdateTypeDef",
]
