import type { JsonValue } from "../../data/json.ts";
import { isAbsent, type Constraints, type Member, type TextRule } from "./constraints.ts";

/** The rule for tool names and tool call ids. */
export const TOOL_NAME_RULE: TextRule = { min: 1, max: 64, pattern: "[a-zA-Z0-9_-]+" };

/** An entry of `allowedTools`: a tool, a tool of a server, or all tools. */
export const ALLOWED_TOOL_RULE: TextRule = {
  min: 1,
  max: 64,
  pattern: "(\\*|@?[^/]+(/[^/]+)?)",
};

/** The configuration member for each tool type. */
const TOOL_CONFIGS: { readonly [type: string]: string } = {
  remote_mcp: "remoteMcp",
  agentcore_browser: "agentCoreBrowser",
  agentcore_gateway: "agentCoreGateway",
  inline_function: "inlineFunction",
  agentcore_code_interpreter: "agentCoreCodeInterpreter",
};
const TOOL_TYPES = [
  "inline_function",
  ...Object.keys(TOOL_CONFIGS).filter((type) => type !== "inline_function"),
] as const satisfies [string, ...string[]];

/** Checks a tool of a harness or of an invocation by the service model. */
export function checkTool(constraints: Constraints, place: string, tool: JsonValue): void {
  const { type, name, config } = constraints.readStructure(place, tool);
  const kind = constraints.readChoice(`${place}.type`, type, TOOL_TYPES);
  if (!isAbsent(name)) constraints.readText(`${place}.name`, name, TOOL_NAME_RULE);
  if (isAbsent(config)) {
    if (kind === "inline_function") constraints.refuse(`${place}.config`, null, "not be null");
    return;
  }
  const member = constraints.readUnion(`${place}.config`, config, Object.values(TOOL_CONFIGS));
  if (member === null) return;
  const path = `${place}.config.${member[0]}`;
  if (member[0] === "inlineFunction") checkInlineFunction(constraints, path, member[1]);
  if (member[0] === "remoteMcp") checkRemoteMcp(constraints, path, member[1]);
}

function checkInlineFunction(constraints: Constraints, path: string, value: JsonValue): void {
  const { description, inputSchema } = constraints.readStructure(path, value);
  constraints.readText(`${path}.description`, description, { min: 1, max: 4096 });
  constraints.readStructure(`${path}.inputSchema`, inputSchema);
}

function checkRemoteMcp(constraints: Constraints, path: string, value: JsonValue): void {
  const { url, headers, outboundAuth } = constraints.readStructure(path, value);
  constraints.readText(`${path}.url`, url, { min: 1, max: 16_383 });
  if (!isAbsent(headers)) constraints.readStructure(`${path}.headers`, headers);
  if (!isAbsent(outboundAuth)) checkOutboundAuth(constraints, `${path}.outboundAuth`, outboundAuth);
}

/** How a harness authenticates to an MCP server: with its execution role, or without authentication. */
function checkOutboundAuth(constraints: Constraints, path: string, value: Member): void {
  const [name, member] = constraints.readUnion(path, value, ["awsIam", "none"]) ?? [];
  if (name === undefined) return;
  const { service, region } = constraints.readStructure(`${path}.${name}`, member);
  if (name === "none") return;
  constraints.readText(`${path}.awsIam.service`, service, SIGNED_SERVICE_RULE);
  if (!isAbsent(region)) constraints.readText(`${path}.awsIam.region`, region, SIGNED_REGION_RULE);
}

const SIGNED_SERVICE_RULE: TextRule = { min: 1, max: 64, pattern: "[a-zA-Z0-9._-]+" };
const SIGNED_REGION_RULE: TextRule = { min: 1, max: 32, pattern: "[a-zA-Z0-9-]+" };
