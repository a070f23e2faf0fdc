import { isObject, type JsonObject, type JsonValue } from "../../data/json.ts";
import { readConfiguration } from "./configuration.ts";
import { RequestFields } from "./request-fields.ts";
import type {
  Change,
  EndpointMove,
  Harness,
  HarnessEndpoint,
  HarnessVersion,
  Tags,
} from "./harness-state.ts";
import type { UsedToken } from "./used-tokens.ts";

/** The persistent state of the control plane. */
export interface RegistryState {
  readonly harnesses: readonly Harness[];
  readonly tokens: readonly UsedToken[];
}

export const EMPTY_REGISTRY: RegistryState = { harnesses: [], tokens: [] };

const FORMAT_VERSION = 1;

export function encodeRegistry({ harnesses, tokens }: RegistryState): string {
  return `${JSON.stringify({ format: FORMAT_VERSION, harnesses, tokens }, null, 1)}\n`;
}

/** Parses a saved registry. Throws an Error with the name of the invalid member. */
export function parseRegistry(text: string): RegistryState {
  // No size or depth limits: each request was already checked when it was accepted.
  const root = expectObject(JSON.parse(text), "the file");
  if (root["format"] !== FORMAT_VERSION) {
    throw new Error(
      `${JSON.stringify(root["format"])} is not a valid format: expected ${FORMAT_VERSION}`,
    );
  }
  return {
    harnesses: expectList(root["harnesses"], "harnesses").map(parseHarness),
    tokens: expectList(root["tokens"], "tokens").map(parseToken),
  };
}

function parseHarness(value: JsonValue): Harness {
  const members = expectObject(value, "a harness");
  const [first, ...more] = expectList(members["versions"], "versions").map(parseVersion);
  if (first === undefined) throw new Error("versions is empty");
  return {
    id: expectString(members["id"], "id"),
    name: expectString(members["name"], "name"),
    createdAt: expectNumber(members["createdAt"], "createdAt"),
    visibleAt: expectNumber(members["visibleAt"], "visibleAt"),
    tags: parseTags(members["tags"]),
    versions: [first, ...more],
    endpoints: expectList(members["endpoints"], "endpoints").map(parseEndpoint),
    ...(members["deletion"] !== undefined && { deletion: parseChange(members["deletion"]) }),
  };
}

function parseVersion(value: JsonValue): HarnessVersion {
  const members = expectObject(value, "a version");
  const fields = new RequestFields(expectObject(members["configuration"], "configuration"));
  const configuration = readConfiguration(fields);
  fields.throwIfInvalid();
  return {
    number: expectNumber(members["number"], "number"),
    configuration,
    change: parseChange(members["change"]),
  };
}

function parseEndpoint(value: JsonValue): HarnessEndpoint {
  const members = expectObject(value, "an endpoint");
  return {
    name: expectString(members["name"], "name"),
    createdAt: expectNumber(members["createdAt"], "createdAt"),
    visibleAt: expectNumber(members["visibleAt"], "visibleAt"),
    ...(members["description"] !== undefined && {
      description: expectString(members["description"], "description"),
    }),
    tags: parseTags(members["tags"]),
    moves: expectList(members["moves"], "moves").map(parseMove),
    ...(members["deletion"] !== undefined && { deletion: parseChange(members["deletion"]) }),
  };
}

function parseMove(value: JsonValue): EndpointMove {
  const members = expectObject(value, "a move");
  return {
    version: expectNumber(members["version"], "version"),
    change: parseChange(members["change"]),
  };
}

function parseChange(value: JsonValue | undefined): Change {
  const members = expectObject(value, "a change");
  const outcome = expectObject(members["outcome"], "outcome");
  const reason = outcome["failureReason"];
  return {
    startedAt: expectNumber(members["startedAt"], "startedAt"),
    dueAt: expectNumber(members["dueAt"], "dueAt"),
    outcome: {
      status: expectString(outcome["status"], "status"),
      ...(reason !== undefined && { failureReason: expectString(reason, "failureReason") }),
    },
  };
}

function parseToken(value: JsonValue): UsedToken {
  const members = expectObject(value, "a token");
  return {
    operation: expectString(members["operation"], "operation"),
    token: expectString(members["token"], "token"),
    fingerprint: expectString(members["fingerprint"], "fingerprint"),
    harnessId: expectString(members["harnessId"], "harnessId"),
    usedAt: expectNumber(members["usedAt"], "usedAt"),
  };
}

function parseTags(value: JsonValue | undefined): Tags {
  const tags = Object.entries(expectObject(value, "tags"));
  return Object.fromEntries(tags.map(([name, text]) => [name, expectString(text, `tags.${name}`)]));
}

function expectObject(value: JsonValue | undefined, name: string): JsonObject {
  if (!isObject(value)) throw new Error(`${name} is not an object`);
  return value;
}

function expectList(value: JsonValue | undefined, name: string): readonly JsonValue[] {
  if (!Array.isArray(value)) throw new Error(`${name} is not an array`);
  return value;
}

function expectString(value: JsonValue | undefined, name: string): string {
  if (typeof value !== "string") throw new Error(`${name} is not a string`);
  return value;
}

function expectNumber(value: JsonValue | undefined, name: string): number {
  if (typeof value !== "number") throw new Error(`${name} is not a number`);
  return value;
}
