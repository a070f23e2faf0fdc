import type { ErrorCode, Failure } from "../../domain/errors.ts";
import type { ApiError } from "../../http/routing/api-error.ts";
import { createJsonResponse } from "../../http/routing/json-response.ts";
import type { ServedResponse } from "../../http/server/http-types.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

/** The body of every error on this surface. */
export interface ErrorBody {
  readonly error: {
    readonly code: ErrorCode;
    readonly message: string;
    readonly hint?: string;
    readonly details?: Failure["details"];
  };
}

export function formatPortalError(error: ApiError): ServedResponse {
  const { status, code, message, headers } = error;
  const hint = error.hint ?? (status === 410 ? CURSOR_HINT : undefined);
  const body: ErrorBody = { error: { code, message, ...omitUndefined({ hint }) } };
  return createJsonResponse(status, body, headers);
}

export const CURSOR_HINT =
  "Discard the events read so far, and read from the beginning: without a cursor";

export function createFailureBody({ code, message, details }: Failure): ErrorBody {
  return { error: { code, message, details } };
}
