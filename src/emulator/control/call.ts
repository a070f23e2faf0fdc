import type { JsonObject, JsonValue } from "../../domain/json.ts";
import type { Incoming, Outgoing, Route } from "../exchange.ts";
import { readJsonBody } from "../json-body.ts";
import { Fields } from "./fields.ts";
import { fingerprintOf, CLIENT_TOKEN } from "./used-tokens.ts";

/** One call of an operation, with its members from the path, the query and the body together. */
export interface Call {
  readonly operation: string;
  readonly fields: Fields;
  /** Of all members but the client token. For a call that keeps all rules: before that, they may be many. */
  fingerprint(): string;
  readonly token: string | undefined;
  readonly now: number;
}

export interface Operation {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  /** Of success. */
  readonly status: number;
  /** Null for an answer without a body. */
  run(call: Call): Promise<JsonObject | null>;
}

/** `route` is a method and a path: `GET /harnesses/:harnessId`. */
export function operation(
  name: string,
  route: string,
  status: number,
  run: Operation["run"],
): Operation {
  const [method = "", path = ""] = route.split(" ");
  return { name, method, path, status, run };
}

export function operationRoute(operation: Operation, now: () => number): Route {
  return {
    method: operation.method,
    path: operation.path,
    async handle(request, labels) {
      const { clientToken, ...members } = {
        ...readJsonBody(request.body),
        ...queryOf(request),
        ...labels,
      };
      const fields = new Fields({ ...members, clientToken: clientToken ?? null });
      const call = {
        operation: operation.name,
        fields,
        fingerprint: () => fingerprintOf(members),
        token: fields.text("clientToken", CLIENT_TOKEN),
        now: now(),
      };
      return jsonAnswer(operation.status, await operation.run(call));
    },
  };
}

export function jsonAnswer(status: number, value: JsonValue): Outgoing {
  if (value === null) return { status, headers: {}, body: new Uint8Array() };
  return {
    status,
    headers: { "content-type": "application/json" },
    body: Buffer.from(JSON.stringify(value)),
  };
}

/** A number in a query is text; a list is a name that comes several times. */
function queryOf({ query }: Incoming): JsonObject {
  const names = [...new Set(query.keys())];
  return Object.fromEntries(
    names.map((name) => {
      const values = query.getAll(name);
      const [text = ""] = values;
      if (name === "tagKeys") return [name, values];
      return [name, name === "maxResults" && /^\d{1,9}$/.test(text) ? Number(text) : text];
    }),
  );
}
