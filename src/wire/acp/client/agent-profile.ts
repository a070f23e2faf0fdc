import { isObject, type JsonObject, type JsonValue } from "../../../data/json.ts";
import { readObject, readHarnMeta, readObjects, readString, readStrings } from "../json-fields.ts";

/** The identity and capabilities of an agent, as declared at `initialize`. */
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
  /**
   * The agent recognizes a repeated prompt by its id and returns the first prompt's response. Without this capability a
   * repeated prompt would run twice.
   */
  readonly repeatsPrompts: boolean;
  /** Names of the vendor updates that the agent sends. */
  readonly extensions: readonly string[];
  readonly authMethods: readonly AuthMethod[];
  /** The unparsed `agentCapabilities`. */
  readonly capabilities: JsonObject;
}

export interface AuthMethod {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
}

/** Reads the result of `initialize`. A capability that the agent does not declare counts as unsupported. */
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
