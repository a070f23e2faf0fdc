import { SpanlineError } from "../domain/errors.ts";

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

/** Where a region is. Throws when the text is no region: it becomes part of a host's name. */
export function resolveLocation(region: string): AwsLocation {
  if (!/^[a-z]{2,5}(-[a-z]+)+-\d{1,2}$/.test(region)) {
    const message = `region is ${JSON.stringify(region)}, wanted a region of AWS, such as us-east-1`;
    throw new SpanlineError("invalid_option", message, { details: { path: "region" } });
  }
  const [, partition = "aws"] = PARTITIONS.find(([start]) => region.startsWith(start)) ?? [];
  return { region, partition };
}

const PARTITIONS: readonly (readonly [start: string, partition: string])[] = [
  ["cn-", "aws-cn"],
  ["us-gov-", "aws-us-gov"],
  ["us-iso-", "aws-iso"],
  ["us-isob-", "aws-iso-b"],
  ["eusc-", "aws-eusc"],
];
