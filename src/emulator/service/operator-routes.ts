import type { JsonObject } from "../../data/json.ts";
import { formatIsoTime } from "../../text/format-iso-time.ts";
import { createJsonResponse } from "../control/operation.ts";
import { RequestFields } from "../control/request-fields.ts";
import { CHANGE_KINDS, type InjectedOutcome } from "../control/injected-outcomes.ts";
import { ServiceError, type EmulatorRoute } from "./service-types.ts";
import { readJsonBody } from "./read-json-body.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

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
        const fields = new RequestFields(readJsonBody(request.body));
        const seconds = fields.readWholeNumber("advanceSeconds", { min: 0, max: 10 ** 9 }) ?? 0;
        fields.throwIfInvalid();
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
        parts.inject(readInjectedOutcome(new RequestFields(readJsonBody(request.body))));
        return createJsonResponse(200, {});
      },
    },
  ];
}

function readInjectedOutcome(fields: RequestFields): InjectedOutcome {
  const harnessName = fields.readText("harnessName") ?? fields.refuseMissing("harnessName");
  const change = fields.readChoice("change", CHANGE_KINDS);
  const status = fields.readText("status") ?? fields.refuseMissing("status");
  const failureReason = fields.readText("failureReason");
  fields.throwIfInvalid();
  return { harnessName, change, status, ...omitUndefined({ failureReason }) };
}
