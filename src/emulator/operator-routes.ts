import type { JsonObject } from "../domain/json.ts";
import { isoTime } from "../domain/iso-time.ts";
import { jsonAnswer } from "./control/call.ts";
import { Fields } from "./control/fields.ts";
import { CHANGE_KINDS, type InjectedOutcome } from "./control/injected-outcomes.ts";
import { ServiceError, type Route } from "./exchange.ts";
import { readJsonBody } from "./json-body.ts";

export interface OperatorParts {
  describe(): JsonObject;
  now(): number;
  advance(milliseconds: number): Promise<void>;
  inject(outcome: InjectedOutcome): void;
}

/** Later years have no form that clients of the service read. */
const LAST_TIME = Date.UTC(9999, 0);

/** What the emulator has beside the service: a look at itself, its clock, and failures to come. Nothing here is signed. */
export function operatorRoutes(parts: OperatorParts): Route[] {
  return [
    {
      method: "GET",
      path: "/_emulator",
      handle: async () => jsonAnswer(200, parts.describe()),
    },
    {
      method: "POST",
      path: "/_emulator/clock",
      async handle(request) {
        const fields = new Fields(readJsonBody(request.body));
        const seconds = fields.wholeNumber("advanceSeconds", { least: 0, most: 10 ** 9 }) ?? 0;
        fields.finish();
        if (parts.now() + seconds * 1000 > LAST_TIME) {
          const message = "The clock cannot be moved beyond the year 9999";
          throw new ServiceError(400, "ValidationException", message);
        }
        await parts.advance(seconds * 1000);
        return jsonAnswer(200, { now: isoTime(parts.now()) });
      },
    },
    {
      method: "POST",
      path: "/_emulator/outcomes",
      async handle(request) {
        parts.inject(readOutcome(new Fields(readJsonBody(request.body))));
        return jsonAnswer(200, {});
      },
    },
  ];
}

function readOutcome(fields: Fields): InjectedOutcome {
  const harnessName = fields.text("harnessName") ?? fields.missing("harnessName");
  const change = fields.oneOf("change", CHANGE_KINDS);
  const status = fields.text("status") ?? fields.missing("status");
  const failureReason = fields.text("failureReason");
  fields.finish();
  return { harnessName, change, status, ...(failureReason !== undefined && { failureReason }) };
}
