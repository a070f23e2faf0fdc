import { isObject } from "../../../data/json.ts";
import { checkList, checkString, checkUnion, throwInvalidOption } from "../check-options.ts";
import { encodeOverrides, type HarnessOverrides } from "../harness/harness-request.ts";

export interface Members {
  readonly [member: string]: unknown;
}

/** What a harness is, beside its name. Objects that are not described here go to the service as they are. */
export interface HarnessSettings extends Omit<HarnessOverrides, "actorId"> {
  /** Where it runs: lifecycle, network, mounts. */
  readonly environment?: Members;
  /** What runs there: a container image of one's own. */
  readonly environmentArtifact?: Members;
  readonly environmentVariables?: { readonly [name: string]: string };
  /** Who may invoke it, where signatures do not decide that. */
  readonly authorizerConfiguration?: Members;
  /** One of the service's kinds of memory. Where nothing is said, the service makes one. */
  readonly memory?: Members;
  readonly truncation?: Members;
  readonly hooks?: readonly Members[];
}

export interface HarnessSpec extends HarnessSettings {
  readonly name: string;
  /** The role that the agent acts under. */
  readonly roleArn: string;
  /** For the bill and for policies; no part of what the harness does. */
  readonly tags?: { readonly [name: string]: string };
}

type Clearable = "environmentArtifact" | "authorizerConfiguration" | "memory";

/** Each value replaces the one before, lists as a whole; null takes away what may be absent. */
export type HarnessChanges = Omit<HarnessSettings, Clearable> & {
  readonly [member in Clearable]?: Members | null;
} & { readonly roleArn?: string };

/** The body of CreateHarness, but for its token. Throws with the path of the field that the service would refuse. */
export function encodeHarness(spec: HarnessSpec): Members {
  const { tags } = spec;
  return {
    harnessName: checkHarnessName("name", spec.name),
    ...encodeHarnessContent(spec),
    ...(tags !== undefined && { tags: checkStringMap("tags", tags) }),
  };
}

/** All that makes a harness behave as it does: equal content is an equal harness. */
export function encodeHarnessContent(spec: Omit<HarnessSpec, "name">): Members {
  const { environmentArtifact, authorizerConfiguration, memory } = spec;
  return {
    executionRoleArn: checkRoleArn("roleArn", spec.roleArn),
    ...encodeSettings(spec),
    ...(environmentArtifact !== undefined && {
      environmentArtifact: requireUnion("environmentArtifact", environmentArtifact),
    }),
    ...(authorizerConfiguration !== undefined && {
      authorizerConfiguration: requireUnion("authorizerConfiguration", authorizerConfiguration),
    }),
    ...(memory !== undefined && { memory: requireUnion("memory", memory) }),
  };
}

/** The body of UpdateHarness, but for its token. */
export function encodeHarnessChanges(changes: HarnessChanges): Members {
  const { roleArn, environmentArtifact, authorizerConfiguration, memory } = changes;
  const body = {
    ...(roleArn !== undefined && { executionRoleArn: checkRoleArn("roleArn", roleArn) }),
    ...encodeSettings(changes),
    ...encodeClearable("environmentArtifact", environmentArtifact),
    ...encodeClearable("authorizerConfiguration", authorizerConfiguration),
    ...encodeClearable("memory", memory),
  };
  if (Object.keys(body).length === 0)
    throwInvalidOption("changes", changes, "at least one setting to change");
  return body;
}

/** What is said alike when a harness is made and when it is changed. */
function encodeSettings(settings: Omit<HarnessSettings, Clearable>): Members {
  const { environment, environmentVariables, truncation, hooks } = settings;
  const hasEnvironment = environment !== undefined && Object.keys(environment).length > 0;
  return {
    ...encodeOverrides(settings),
    ...(hasEnvironment && { environment: requireUnion("environment", environment) }),
    ...(environmentVariables !== undefined && {
      environmentVariables: checkStringMap("environmentVariables", environmentVariables),
    }),
    ...(truncation !== undefined && { truncation: checkObject("truncation", truncation) }),
    ...(hooks !== undefined && { hooks: encodeHooks(hooks) }),
  };
}

/** To leave such a member out means to keep it, so that a wrapper says whether it is set or taken away. */
function encodeClearable(name: Clearable, value: Members | null | undefined): Members {
  if (value === undefined) return {};
  return { [name]: value === null ? {} : { optionalValue: requireUnion(name, value) } };
}

function requireUnion(path: string, value: Members): Members {
  checkUnion(path, value);
  return value;
}

function encodeHooks(hooks: readonly Members[]): readonly unknown[] {
  const list = checkList("hooks", hooks);
  for (const [at, hook] of list.entries()) checkObject(`hooks[${at}]`, hook);
  return list;
}

export function checkObject(path: string, value: unknown): Members {
  return isObject(value) ? value : throwInvalidOption(path, value, "an object");
}

export function checkStringMap(path: string, value: unknown): { readonly [name: string]: string } {
  const entries = Object.entries(checkObject(path, value)).map(([name, text]) => {
    return [
      name,
      typeof text === "string" ? text : throwInvalidOption(`${path}.${name}`, text, "text"),
    ];
  });
  return Object.fromEntries(entries) as { readonly [name: string]: string };
}

function checkHarnessName(path: string, name: unknown): string {
  const expected = "a letter, then up to 39 letters, digits and _";
  return checkString(path, name, /^[a-zA-Z][a-zA-Z0-9_]{0,39}$/, expected);
}

/** The service's own words for a blank one are of no help. */
function checkRoleArn(path: string, arn: unknown): string {
  const expected = "the ARN of an IAM role, such as arn:aws:iam::123456789012:role/harness";
  const trimmedArn = typeof arn === "string" ? arn.trim() : arn;
  return checkString(path, trimmedArn, /^arn:aws[a-z-]*:iam::(?:\d{12})?:role\/\S+$/, expected);
}
