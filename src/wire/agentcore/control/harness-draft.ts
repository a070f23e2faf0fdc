import { isObject } from "../../../data/json.ts";
import { SpanlineError } from "../../../domain/errors.ts";
import { createInlineFunction } from "../../converse/converse-input.ts";
import { checkCount, checkList, throwInvalidOption } from "../check-options.ts";
import {
  checkObject,
  checkStringMap,
  type HarnessChanges,
  type HarnessSpec,
  type Members,
} from "./harness-settings.ts";
import type { HarnessTool } from "../harness/harness-request.ts";
import { formatUnknownName } from "../../../text/unknown-name.ts";

/** A partial harness specification, from a file or from flags. */
export type HarnessDraft = HarnessChanges & Partial<Pick<HarnessSpec, "name" | "tags">>;

/**
 * Reads a harness specification file. Fields have our names or the names of the service, so a CreateHarness request is
 * a valid draft. An unknown field is refused, because a misspelled setting would otherwise be ignored silently.
 */
export function readHarnessDraft(value: unknown): HarnessDraft {
  const members = isObject(value)
    ? value
    : throwInvalidOption("spec", value, "an object with settings");
  const draft: HarnessDraft[] = Object.entries(members).map(([name, found]) => {
    const reader = FIELD_READERS.get(name);
    if (reader !== undefined) return reader(found, name);
    const message = formatUnknownName("Key", name, { names: [...FIELD_READERS.keys()] });
    throw new SpanlineError("invalid_option", message, { details: { path: name } });
  });
  return Object.assign({}, ...draft) as HarnessDraft;
}

/** Converts a draft to a complete specification. Throws `invalid_option` with the name of a missing field. */
export function toHarnessSpec(draft: HarnessDraft): HarnessSpec {
  const { name, roleArn, environmentArtifact, authorizerConfiguration, memory, ...rest } = draft;
  return {
    ...rest,
    name: name ?? throwInvalidOption("name", name, "the name of the harness"),
    roleArn:
      roleArn ??
      throwInvalidOption("roleArn", roleArn, "the ARN of the execution role of the agent"),
    ...setIfPresent("environmentArtifact", environmentArtifact),
    ...setIfPresent("authorizerConfiguration", authorizerConfiguration),
    ...setIfPresent("memory", memory),
  };
}

function setIfPresent<Name extends string>(name: Name, value: Members | null | undefined) {
  if (value === null)
    throwInvalidOption(
      name,
      value,
      "an object; null is valid only for changes to an existing harness",
    );
  return (value === undefined ? {} : { [name]: value }) as { readonly [name in Name]?: Members };
}

/** Converts a draft to changes of an existing harness. The name and the tags cannot be changed and are dropped. */
export function toHarnessChanges(draft: HarnessDraft): HarnessChanges {
  const { name: _name, tags: _tags, ...changes } = draft;
  return changes;
}

type FieldReader = (value: unknown, path: string) => HarnessDraft;

const FIELD_READERS: ReadonlyMap<string, FieldReader> = new Map<string, FieldReader>([
  ["name", (value, path) => ({ name: readString(value, path) })],
  ["harnessName", (value, path) => ({ name: readString(value, path) })],
  ["roleArn", (value, path) => ({ roleArn: readString(value, path) })],
  ["executionRoleArn", (value, path) => ({ roleArn: readString(value, path) })],
  ["systemPrompt", (value, path) => ({ systemPrompt: readSystemPrompt(value, path) })],
  [
    "model",
    (value, path) => ({ model: typeof value === "string" ? value : checkObject(path, value) }),
  ],
  ["tools", (value, path) => ({ tools: readHarnessTools(value, path) })],
  ["allowedTools", (value, path) => ({ allowedTools: readStringList(value, path) })],
  ["skills", (value, path) => ({ skills: readObjectList(value, path) })],
  ["maxIterations", (value, path) => ({ maxIterations: checkCount(path, value) })],
  ["maxTokens", (value, path) => ({ maxTokens: checkCount(path, value) })],
  ["timeoutSeconds", (value, path) => ({ timeoutSeconds: checkCount(path, value) })],
  ["environment", (value, path) => ({ environment: checkObject(path, value) })],
  [
    "environmentArtifact",
    (value, path) => ({ environmentArtifact: readClearableObject(value, path) }),
  ],
  [
    "environmentVariables",
    (value, path) => ({ environmentVariables: checkStringMap(path, value) }),
  ],
  [
    "authorizerConfiguration",
    (value, path) => ({ authorizerConfiguration: readClearableObject(value, path) }),
  ],
  ["memory", (value, path) => ({ memory: readClearableObject(value, path) })],
  ["truncation", (value, path) => ({ truncation: checkObject(path, value) })],
  ["hooks", (value, path) => ({ hooks: readObjectList(value, path) })],
  ["tags", (value, path) => ({ tags: checkStringMap(path, value) })],
]);

/**
 * Reads tools in the service's form, or in the short form `{name, description, schema}` for a tool on the caller's
 * side.
 */
export function readHarnessTools(value: unknown, path: string): HarnessTool[] {
  return readObjectList(value, path).map((tool, at) => {
    const { type, name, description, schema, config } = tool;
    if (type === undefined && isObject(schema)) {
      const toolPath = `${path}[${at}]`;
      return createInlineFunction(
        readString(name, `${toolPath}.name`),
        readString(description, `${toolPath}.description`),
        schema,
      );
    }
    return {
      ...tool,
      type: readString(type, `${path}[${at}].type`),
      ...(name !== undefined && { name: readString(name, `${path}[${at}].name`) }),
      ...(config !== undefined && { config: checkObject(`${path}[${at}].config`, config) }),
    };
  });
}

function readString(value: unknown, path: string): string {
  return typeof value === "string" ? value : throwInvalidOption(path, value, "a string");
}

function readStringList(value: unknown, path: string): string[] {
  return checkList(path, value).map((item, at) => readString(item, `${path}[${at}]`));
}

function readObjectList(value: unknown, path: string): Members[] {
  return checkList(path, value).map((item, at) => checkObject(`${path}[${at}]`, item));
}

function readClearableObject(value: unknown, path: string): Members | null {
  return value === null ? null : checkObject(path, value);
}

function readSystemPrompt(value: unknown, path: string): string | { readonly text: string }[] {
  if (typeof value === "string") return value;
  return readObjectList(value, path).map((block, at) => ({
    ...block,
    text: readString(block["text"], `${path}[${at}].text`),
  }));
}
