import { isObject } from "../../domain/json.ts";
import { inlineFunction } from "../converse/inline-function.ts";
import { checkCount, checkList, refuse } from "./check.ts";
import {
  checkObject,
  checkTexts,
  type HarnessChanges,
  type HarnessSpec,
  type Members,
} from "./control-settings.ts";
import type { HarnessTool } from "./harness-request.ts";

/** What somebody wrote down of a harness, in a file or as flags; it need not be all of it. */
export type HarnessDraft = HarnessChanges & Partial<Pick<HarnessSpec, "name" | "tags">>;

/**
 * Reads what a file says. Members have our names or the service's, so that a request for CreateHarness is a draft too.
 * A member that is neither is refused: a setting that is misspelt would be lost without a word.
 */
export function readDraft(value: unknown): HarnessDraft {
  const members = isObject(value) ? value : refuse("spec", value, "an object of settings");
  const draft: HarnessDraft[] = Object.entries(members).map(([name, found]) => {
    const reader = READERS.get(name);
    if (reader !== undefined) return reader(found, name);
    return refuse(name, found, `no such setting; there are ${[...READERS.keys()].join(", ")}`);
  });
  return Object.assign({}, ...draft) as HarnessDraft;
}

/** The draft as a whole spec. Names what is missing. */
export function specFrom(draft: HarnessDraft): HarnessSpec {
  const { name, roleArn, environmentArtifact, authorizerConfiguration, memory, ...rest } = draft;
  return {
    ...rest,
    name: name ?? refuse("name", name, "the name of the harness"),
    roleArn: roleArn ?? refuse("roleArn", roleArn, "the ARN of the role that the agent acts under"),
    ...set("environmentArtifact", environmentArtifact),
    ...set("authorizerConfiguration", authorizerConfiguration),
    ...set("memory", memory),
  };
}

function set<Name extends string>(name: Name, value: Members | null | undefined) {
  if (value === null) refuse(name, value, "an object; null takes away what is there already");
  return (value === undefined ? {} : { [name]: value }) as { readonly [name in Name]?: Members };
}

/** The draft as changes of a harness that is there; its name and tags are not among what can be changed. */
export function changesFrom(draft: HarnessDraft): HarnessChanges {
  const { name: _name, tags: _tags, ...changes } = draft;
  return changes;
}

type Reader = (value: unknown, path: string) => HarnessDraft;

const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ["name", (value, path) => ({ name: text(value, path) })],
  ["harnessName", (value, path) => ({ name: text(value, path) })],
  ["roleArn", (value, path) => ({ roleArn: text(value, path) })],
  ["executionRoleArn", (value, path) => ({ roleArn: text(value, path) })],
  ["systemPrompt", (value, path) => ({ systemPrompt: prompt(value, path) })],
  [
    "model",
    (value, path) => ({ model: typeof value === "string" ? value : checkObject(path, value) }),
  ],
  ["tools", (value, path) => ({ tools: readTools(value, path) })],
  ["allowedTools", (value, path) => ({ allowedTools: texts(value, path) })],
  ["skills", (value, path) => ({ skills: objects(value, path) })],
  ["maxIterations", (value, path) => ({ maxIterations: checkCount(path, value) })],
  ["maxTokens", (value, path) => ({ maxTokens: checkCount(path, value) })],
  ["timeoutSeconds", (value, path) => ({ timeoutSeconds: checkCount(path, value) })],
  ["environment", (value, path) => ({ environment: checkObject(path, value) })],
  ["environmentArtifact", (value, path) => ({ environmentArtifact: clearable(value, path) })],
  ["environmentVariables", (value, path) => ({ environmentVariables: checkTexts(path, value) })],
  [
    "authorizerConfiguration",
    (value, path) => ({ authorizerConfiguration: clearable(value, path) }),
  ],
  ["memory", (value, path) => ({ memory: clearable(value, path) })],
  ["truncation", (value, path) => ({ truncation: checkObject(path, value) })],
  ["hooks", (value, path) => ({ hooks: objects(value, path) })],
  ["tags", (value, path) => ({ tags: checkTexts(path, value) })],
]);

/** Tools as the service has them, or in short `{name, description, schema}` for one that runs on the caller's side. */
export function readTools(value: unknown, path: string): HarnessTool[] {
  return objects(value, path).map((tool, at) => {
    const { type, name, description, schema, config } = tool;
    if (type === undefined && isObject(schema)) {
      const inside = `${path}[${at}]`;
      return inlineFunction(
        text(name, `${inside}.name`),
        text(description, `${inside}.description`),
        schema,
      );
    }
    return {
      ...tool,
      type: text(type, `${path}[${at}].type`),
      ...(name !== undefined && { name: text(name, `${path}[${at}].name`) }),
      ...(config !== undefined && { config: checkObject(`${path}[${at}].config`, config) }),
    };
  });
}

function text(value: unknown, path: string): string {
  return typeof value === "string" ? value : refuse(path, value, "text");
}

function texts(value: unknown, path: string): string[] {
  return checkList(path, value).map((item, at) => text(item, `${path}[${at}]`));
}

function objects(value: unknown, path: string): Members[] {
  return checkList(path, value).map((item, at) => checkObject(`${path}[${at}]`, item));
}

function clearable(value: unknown, path: string): Members | null {
  return value === null ? null : checkObject(path, value);
}

function prompt(value: unknown, path: string): string | { readonly text: string }[] {
  if (typeof value === "string") return value;
  return objects(value, path).map((block, at) => ({
    ...block,
    text: text(block["text"], `${path}[${at}].text`),
  }));
}
