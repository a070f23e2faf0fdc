import { isObject } from "../../../data/json.ts";
import { checkList, checkString, checkUnion, throwInvalidOption } from "../check-options.ts";
import { encodeOverrides, type HarnessOverrides } from "../harness/harness-request.ts";

export interface Members {
  readonly [member: string]: unknown;
}

/**
 * The settings of a harness, without its name. Objects without a declared structure are sent to the service unchanged.
 */
export interface HarnessSettings extends Omit<HarnessOverrides, "actorId"> {
  /** The runtime environment: lifecycle, network, mounts. */
  readonly environment?: Members;
  /** A custom container image for the environment. */
  readonly environmentArtifact?: Members;
  readonly environmentVariables?: { readonly [name: string]: string };
  /** Who may invoke the harness, for authorization other than AWS signatures. */
  readonly authorizerConfiguration?: Members;
  /** A memory configuration of the service. If absent, the service creates a memory. */
  readonly memory?: Members;
  readonly truncation?: Members;
  readonly hooks?: readonly Members[];
}

export interface HarnessSpec extends HarnessSettings {
  readonly name: string;
  /** ARN of the execution role of the agent. */
  readonly roleArn: string;
  /** Labels for billing and access policies. Tags do not affect the behaviour of the harness. */
  readonly tags?: { readonly [name: string]: string };
}

type Clearable = "environmentArtifact" | "authorizerConfiguration" | "memory";

/**
 * Changes to a harness. Each value replaces the current value; lists are replaced as a whole. Null removes an optional
 * setting.
 */
export type HarnessChanges = Omit<HarnessSettings, Clearable> & {
  readonly [member in Clearable]?: Members | null;
} & { readonly roleArn?: string };

/**
 * Encodes the body of CreateHarness without its token. Throws `invalid_option` with the path of a field which the
 * service would refuse.
 */
export function encodeHarness(spec: HarnessSpec): Members {
  const { tags } = spec;
  return {
    harnessName: checkHarnessName("name", spec.name),
    ...encodeHarnessContent(spec),
    ...(tags !== undefined && { tags: checkStringMap("tags", tags) }),
  };
}

/** Encodes the settings with an effect on behaviour. Two harnesses with equal content are equal. */
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

/** Encodes the body of UpdateHarness without its token. */
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

/** Encodes the settings with the same form in CreateHarness and UpdateHarness. */
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

/** An absent member keeps its value, so the service uses a wrapper: an empty wrapper removes the value. */
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
      typeof text === "string" ? text : throwInvalidOption(`${path}.${name}`, text, "a string"),
    ];
  });
  return Object.fromEntries(entries) as { readonly [name: string]: string };
}

function checkHarnessName(path: string, name: unknown): string {
  const expected = "a letter, then up to 39 letters, digits and _";
  return checkString(path, name, /^[a-zA-Z][a-zA-Z0-9_]{0,39}$/, expected);
}

/** Checked here because the service's error for a blank role ARN is not helpful. */
function checkRoleArn(path: string, arn: unknown): string {
  const expected = "the ARN of an IAM role, such as arn:aws:iam::123456789012:role/harness";
  const trimmedArn = typeof arn === "string" ? arn.trim() : arn;
  return checkString(path, trimmedArn, /^arn:aws[a-z-]*:iam::(?:\d{12})?:role\/\S+$/, expected);
}
