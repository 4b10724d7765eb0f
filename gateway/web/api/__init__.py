"""The JSON side: what the pages can do, for programs."""

from __future__ import annotations

from fastapi import APIRouter, Depends

from gateway.web.access import known_visitor
from gateway.web.api import acting, looking
from gateway.web.api.common import ANSWERS

MODULES = (looking, acting)

router = APIRouter(prefix="/api", responses=ANSWERS, dependencies=[Depends(known_visitor)])
for each in MODULES:
    router.include_router(each.router)

__all__ = ["MODULES", "router"]
