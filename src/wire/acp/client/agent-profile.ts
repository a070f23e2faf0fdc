import { isObject, type JsonObject, type JsonValue } from "../../../domain/json.ts";
import { fieldsOf, harnFields, objectsOf, textOf, textsOf } from "../fields.ts";

/** What an agent is and can do, as it said at `initialize`. */
export interface AgentProfile {
  readonly protocolVersion: number;
  readonly name: string;
  readonly version: string | null;
  readonly canLoad: boolean;
  readonly canResume: boolean;
  readonly canList: boolean;
  readonly canClose: boolean;
  readonly canDelete: boolean;
  readonly canFork: boolean;
  /** Whether a prompt that comes again with its id is the same, and gets its answer; else it would be another one. */
  readonly repeatsPrompts: boolean;
  /** The updates that it sends beside ACP's own, by name. */
  readonly extensions: readonly string[];
  readonly authMethods: readonly AuthMethod[];
  /** `agentCapabilities` as they came. */
  readonly capabilities: JsonObject;
}

export interface AuthMethod {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
}

/** What an agent does not say, it does not do. */
export function readAgentProfile(result: JsonValue): AgentProfile {
  const { protocolVersion, agentInfo, agentCapabilities, authMethods } = fieldsOf(result);
  const info = fieldsOf(agentInfo);
  const capabilities = fieldsOf(agentCapabilities);
  const session = fieldsOf(capabilities["sessionCapabilities"]);
  const can = (name: string): boolean => session[name] === true || isObject(session[name]);
  return {
    protocolVersion: typeof protocolVersion === "number" ? protocolVersion : 1,
    name: textOf(info["title"]) ?? textOf(info["name"]) ?? "an ACP agent",
    version: textOf(info["version"]) ?? null,
    canLoad: capabilities["loadSession"] === true,
    canResume: can("resume"),
    canList: can("list"),
    canClose: can("close"),
    canDelete: can("delete"),
    canFork: can("fork"),
    repeatsPrompts: harnFields(capabilities)["repeatablePrompts"] === true,
    extensions: textsOf(harnFields(capabilities)["sessionUpdateExtensions"]),
    authMethods: objectsOf(authMethods).flatMap(({ id, name, description }) =>
      typeof id === "string"
        ? [{ id, name: textOf(name) ?? id, description: textOf(description) ?? null }]
        : [],
    ),
    capabilities,
  };
}
