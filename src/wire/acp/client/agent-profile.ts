import { isObject, type JsonObject, type JsonValue } from "../../../data/json.ts";
import { readObject, readHarnMeta, readObjects, readString, readStrings } from "../json-fields.ts";

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
  const { protocolVersion, agentInfo, agentCapabilities, authMethods } = readObject(result);
  const info = readObject(agentInfo);
  const capabilities = readObject(agentCapabilities);
  const session = readObject(capabilities["sessionCapabilities"]);
  const can = (name: string): boolean => session[name] === true || isObject(session[name]);
  return {
    protocolVersion: typeof protocolVersion === "number" ? protocolVersion : 1,
    name: readString(info["title"]) ?? readString(info["name"]) ?? "an ACP agent",
    version: readString(info["version"]) ?? null,
    canLoad: capabilities["loadSession"] === true,
    canResume: can("resume"),
    canList: can("list"),
    canClose: can("close"),
    canDelete: can("delete"),
    canFork: can("fork"),
    repeatsPrompts: readHarnMeta(capabilities)["repeatablePrompts"] === true,
    extensions: readStrings(readHarnMeta(capabilities)["sessionUpdateExtensions"]),
    authMethods: readObjects(authMethods).flatMap(({ id, name, description }) =>
      typeof id === "string"
        ? [{ id, name: readString(name) ?? id, description: readString(description) ?? null }]
        : [],
    ),
    capabilities,
  };
}
