import type { JsonObject } from "../../data/json.ts";
import { throwInvalid, throwProblem } from "../../data/schema-error.ts";
import {
  anything,
  array,
  number,
  object,
  optional,
  record,
  refine,
  string,
  type ObjectOf,
  type Schema,
} from "../../data/schema-reader.ts";
import { readConfiguration, type Configuration } from "./configuration.ts";
import { RequestFields } from "./request-fields.ts";
import type { Change, Harness, HarnessEndpoint, HarnessVersion, Tags } from "./harness-state.ts";
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

/** Parses a saved registry. Throws an Error with the path of the invalid member. */
export function parseRegistry(text: string): RegistryState {
  // No size or depth limits: each request was already checked when it was accepted.
  const saved: unknown = JSON.parse(text);
  // Read first, because another format has other members.
  SAVED_FORMAT(saved, "");
  return SAVED_REGISTRY(saved, "");
}

const SAVED_FORMAT = createSavedObject({
  format: (value, path) =>
    value === FORMAT_VERSION
      ? FORMAT_VERSION
      : throwInvalid({ path, value, expected: String(FORMAT_VERSION) }),
});

const TAGS: Schema<Tags> = record(string());

const CHANGE: Schema<Change> = createSavedObject({
  startedAt: number(),
  dueAt: number(),
  outcome: createSavedObject({ status: string(), failureReason: optional(string()) }),
});

const ENDPOINT: Schema<HarnessEndpoint> = createSavedObject({
  name: string(),
  createdAt: number(),
  visibleAt: number(),
  description: optional(string()),
  tags: TAGS,
  moves: array(createSavedObject({ version: number(), change: CHANGE })),
  deletion: optional(CHANGE),
});

const VERSION: Schema<HarnessVersion> = createSavedObject({
  number: number(),
  configuration: readSavedConfiguration,
  change: CHANGE,
});

const HARNESS: Schema<Harness> = createSavedObject({
  id: string(),
  name: string(),
  createdAt: number(),
  visibleAt: number(),
  tags: TAGS,
  versions: refine(array(VERSION), ([first, ...more], path) =>
    first === undefined ? throwProblem(path, "is empty") : ([first, ...more] as const),
  ),
  endpoints: array(ENDPOINT),
  deletion: optional(CHANGE),
});

const TOKEN: Schema<UsedToken> = createSavedObject({
  operation: string(),
  token: string(),
  fingerprint: string(),
  harnessId: string(),
  usedAt: number(),
});

const SAVED_REGISTRY: Schema<RegistryState> = createSavedObject({
  harnesses: array(HARNESS),
  tokens: array(TOKEN),
});

/** Unknown members of a saved object are ignored. */
function createSavedObject<const S extends Parameters<typeof object>[0]>(
  shape: S,
): Schema<ObjectOf<S>> {
  return object(shape, { otherNames: "ignore" });
}

/** Reads a configuration by the rules of the request that created it. */
function readSavedConfiguration(value: unknown, path: string): Configuration {
  const fields = new RequestFields(readJsonObject(value, path), path);
  const configuration = readConfiguration(fields);
  fields.throwIfInvalid();
  return configuration;
}

/** The saved text was parsed as JSON, so all members are JSON values. */
function readJsonObject(value: unknown, path: string): JsonObject {
  return record(anything)(value, path) as JsonObject;
}
