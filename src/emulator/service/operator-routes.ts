import type { JsonObject } from "../../data/json.ts";
import { SchemaError } from "../../data/schema-error.ts";
import { integer, nullish, object, oneOf, string, type Schema } from "../../data/schema-reader.ts";
import { formatIsoTime } from "../../text/format-iso-time.ts";
import { createJsonResponse } from "../control/operation.ts";
import { CHANGE_KINDS, type InjectedOutcome } from "../control/injected-outcomes.ts";
import { ServiceError, type EmulatorRequest, type EmulatorRoute } from "./service-types.ts";
import { readJsonBody } from "./read-json-body.ts";
import { createValidationError } from "./validation-error.ts";

export interface OperatorParts {
  describe(): JsonObject;
  now(): number;
  advance(milliseconds: number): Promise<void>;
  inject(outcome: InjectedOutcome): void;
}

/** Clients of the service cannot parse later years. */
const LAST_TIME = Date.UTC(9999, 0);

/** Routes of the emulator itself: its description, its clock and injected failures. Requests are not signed. */
export function createOperatorRoutes(parts: OperatorParts): EmulatorRoute[] {
  return [
    {
      method: "GET",
      path: "/_emulator",
      handle: async () => createJsonResponse(200, parts.describe()),
    },
    {
      method: "POST",
      path: "/_emulator/clock",
      async handle(request) {
        const seconds = readBody(CLOCK_MOVE, request).advanceSeconds ?? 0;
        if (parts.now() + seconds * 1000 > LAST_TIME) {
          const message = "The clock cannot be moved beyond the year 9999";
          throw new ServiceError(400, "ValidationException", message);
        }
        await parts.advance(seconds * 1000);
        return createJsonResponse(200, { now: formatIsoTime(parts.now()) });
      },
    },
    {
      method: "POST",
      path: "/_emulator/outcomes",
      async handle(request) {
        const { failureReason, ...outcome } = readBody(INJECTED_OUTCOME, request);
        parts.inject(failureReason === null ? outcome : { ...outcome, failureReason });
        return createJsonResponse(200, {});
      },
    },
  ];
}

const CLOCK_MOVE = object(
  { advanceSeconds: nullish(integer({ min: 0, max: 10 ** 9 })) },
  { otherNames: "ignore" },
);

const INJECTED_OUTCOME = object(
  {
    harnessName: string(),
    change: oneOf(CHANGE_KINDS),
    status: string(),
    failureReason: nullish(string()),
  },
  { otherNames: "ignore" },
);

/** Reads a JSON body by a schema. Each issue becomes a field of the service's error. */
function readBody<Value>(schema: Schema<Value>, { body }: EmulatorRequest): Value {
  const members = readJsonBody(body);
  try {
    return schema(members, "");
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    const violations = error.issues.map(({ path, message }) => ({ name: path, message }));
    throw createValidationError(error.message, "FieldValidationFailed", violations);
  }
}
