"""Examples of the document: marketplace jobs and batches."""

from typing import Any, Final

from spinneret.kernel.errors import field_error
from spinneret.runtime.http.declaration import Examples

_PRODUCT: Final = "prd_0198c5a1d2e37f4a8b6c9d0e1f2a3b60"
_AT: Final = "2026-01-02T12:00:00.000000Z"

JOB: Final[Examples] = {
    "list a product on eBay, at a price of its own": {
        "request": {
            "marketplace": "ebay",
            "action_code": "publish",
            "product_id": _PRODUCT,
            "priority": 2,
            "input_data": {"override_price": 9900},
        },
        "answer": {
            "job_id": "job_0198c5a1d2e37f4a8b6c9d0e1f2a3b61",
            "marketplace": "ebay",
            "action_code": "publish",
            "product_id": _PRODUCT,
            "batch_job_id": None,
            "status": "pending",
            "priority": 2,
            "retry_count": 0,
            "max_retries": 3,
            "expires_at": "2026-01-02T13:00:00.000000Z",
            "publish_at": None,
            "waiting_for": None,
            "input_data": {"override_price": 9900},
            "result_data": None,
            "error": None,
            "created_at": _AT,
            "started_at": None,
            "completed_at": None,
            "progress": 0,
        },
    }
}
IMPORT: Final[Examples] = {
    "link what is listed on Etsy, and create the other products": {
        "request": {"create": True},
        "answer": {
            **JOB["list a product on eBay, at a price of its own"]["answer"],
            "job_id": "job_0198c5a1d2e37f4a8b6c9d0e1f2a3b62",
            "marketplace": "etsy",
            "action_code": "import",
            "product_id": None,
            "priority": 4,
            "input_data": {"create": True},
        },
    }
}
_BATCH: Final[dict[str, Any]] = {
    "marketplace": "etsy",
    "action_code": "publish",
    "product_ids": [_PRODUCT],
}
BATCH: Final[Examples] = {
    "list a product on Etsy": {
        "request": _BATCH,
        "answer": {
            "batch_id": "publish_20260102T120000_8f14e45fceea467a9a36dedd4bea2543",
            "marketplace": "etsy",
            "action_code": "publish",
            "publish_at": None,
            "status": "pending",
            "priority": 3,
            "total_count": 1,
            "completed_count": 0,
            "failed_count": 0,
            "cancelled_count": 0,
            "pending_count": 1,
            "progress_percent": 0,
            "is_active": True,
            "is_terminal": False,
            "created_at": _AT,
            "started_at": None,
            "completed_at": None,
        },
    }
}
PREFERENCES: Final[Examples] = {
    "pause, and ask for 15 % more": {
        "request": {"is_paused": True, "price_factor": "1.15", "price_ending": 99},
        "answer": {
            "marketplace": "ebay",
            "paused_at": _AT,
            "price_factor": "1.15",
            "minimum_price": None,
            "price_ending": 99,
            "quantity_buffer": None,
            "title_suffix": None,
            "choices": {},
        },
    }
}
PLAN: Final[Examples] = {
    "what would listing it on Etsy do": {
        "request": _BATCH,
        "answer": {
            "marketplace": "etsy",
            "action_code": "publish",
            "total_count": 1,
            "refused_count": 1,
            "items": [
                {
                    "product_id": _PRODUCT,
                    "outcome": "refused",
                    "fields": [
                        field_error(
                            "overrides.etsy.category_id", "the number of an Etsy taxonomy node"
                        )
                    ],
                    "rules": [{"field": "price", "product": 2500, "shown": 2999}],
                    "fees": [],
                    "violations": [],
                    "unchecked": None,
                }
            ],
        },
    }
}
