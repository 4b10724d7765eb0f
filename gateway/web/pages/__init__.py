"""The pages: the same services as the API, as HTML that works by keyboard and on a phone."""

from __future__ import annotations

from fastapi import APIRouter

from gateway.web.pages import acting, changing, looking, people, signing

MODULES = (signing, looking, acting, people, changing)

router = APIRouter(include_in_schema=False)
for each in MODULES:
    router.include_router(each.router)

__all__ = ["MODULES", "router"]
