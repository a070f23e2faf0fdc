import { SpanlineError } from "../domain/errors.ts";
import type { AwsLocation } from "./endpoints.ts";

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
