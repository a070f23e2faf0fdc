import type { JsonObject, JsonValue } from "../../data/json.ts";
import type { EmulatorRequest, EmulatorResponse, EmulatorRoute } from "../service/service-types.ts";
import { readJsonBody } from "../service/read-json-body.ts";
import { RequestFields } from "./request-fields.ts";
import { computeFingerprint, CLIENT_TOKEN_RULE } from "./used-tokens.ts";

/** A request for an operation, with all members from the path, the query and the body. */
export interface OperationRequest {
  readonly operation: string;
  readonly fields: RequestFields;
  /**
   * A digest of all members except the client token. Call only after validation, because an invalid request may have
   * very many members.
   */
  computeFingerprint(): string;
  readonly token: string | undefined;
  readonly now: number;
}

export interface Operation {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  /** The HTTP status of a success. */
  readonly status: number;
  /** Returns null for a response without a body. */
  run(call: OperationRequest): Promise<JsonObject | null>;
}

/** Defines an operation. `route` is a method and a path, such as `GET /harnesses/:harnessId`. */
export function defineOperation(
  name: string,
  route: string,
  status: number,
  run: Operation["run"],
): Operation {
  const [method = "", path = ""] = route.split(" ");
  return { name, method, path, status, run };
}

export function createOperationRoute(operation: Operation, now: () => number): EmulatorRoute {
  return {
    method: operation.method,
    path: operation.path,
    async handle(request, pathParams) {
      const { clientToken, ...members } = {
        ...readJsonBody(request.body),
        ...readQuery(request),
        ...pathParams,
      };
      const fields = new RequestFields({ ...members, clientToken: clientToken ?? null });
      const operationRequest = {
        operation: operation.name,
        fields,
        computeFingerprint: () => computeFingerprint(members),
        token: fields.readText("clientToken", CLIENT_TOKEN_RULE),
        now: now(),
      };
      return createJsonResponse(operation.status, await operation.run(operationRequest));
    },
  };
}

export function createJsonResponse(status: number, value: JsonValue): EmulatorResponse {
  if (value === null) return { status, headers: {}, body: new Uint8Array() };
  return {
    status,
    headers: { "content-type": "application/json" },
    body: Buffer.from(JSON.stringify(value)),
  };
}

/** Reads the query. Numbers are parsed from text; a list is a repeated name. */
function readQuery({ query }: EmulatorRequest): JsonObject {
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
