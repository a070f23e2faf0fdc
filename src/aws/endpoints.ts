/** The two hosts of AgentCore: one runs agents, the other manages them. */
export type Plane = "data" | "control";

export interface AwsLocation {
  readonly region: string;
  /** `aws` unless the region is China's, a government's or a sovereign one. */
  readonly partition: string;
}

/** Both planes sign under this name. */
export const AGENTCORE_SERVICE = "bedrock-agentcore";

export function resolveAgentCoreEndpoint(plane: Plane, { region, partition }: AwsLocation): URL {
  const host = plane === "data" ? "bedrock-agentcore" : "bedrock-agentcore-control";
  const suffix = DOMAIN_SUFFIXES.get(partition) ?? "amazonaws.com";
  return new URL(`https://${host}.${region}.${suffix}`);
}

const DOMAIN_SUFFIXES: ReadonlyMap<string, string> = new Map([
  ["aws-cn", "amazonaws.com.cn"],
  ["aws-iso", "c2s.ic.gov"],
  ["aws-iso-b", "sc2s.sgov.gov"],
  ["aws-eusc", "amazonaws.eu"],
]);
