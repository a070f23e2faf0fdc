import { SpanlineError } from "../domain/errors.ts";

/** The two hosts of AgentCore: the data plane runs agents, the control plane manages them. */
export type Plane = "data" | "control";

export interface AwsLocation {
  readonly region: string;
  /** `aws` except for the regions of China, governments and sovereign clouds. */
  readonly partition: string;
}

/** The service name in signatures, for both planes. */
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

/**
 * The location of a region. Throws `invalid_option` for an invalid region, because the region becomes part of a host
 * name.
 */
export function resolveLocation(region: string): AwsLocation {
  if (!/^[a-z]{2,5}(-[a-z]+)+-\d{1,2}$/.test(region)) {
    const message = `region is ${JSON.stringify(region)}: expected an AWS region such as us-east-1`;
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
