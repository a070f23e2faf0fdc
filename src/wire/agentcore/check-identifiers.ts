import { checkString } from "./check-options.ts";

const PARTITION = "arn:aws[a-z-]*:bedrock-agentcore";

export function checkHarnessArn(path: string, arn: unknown): string {
  const pattern = new RegExp(
    `^${PARTITION}:[a-z0-9-]+:\\d{12}:harness/[a-zA-Z][a-zA-Z0-9_]{0,39}-[a-zA-Z0-9]{10}$`,
  );
  const expected =
    "the ARN of a harness, such as arn:aws:bedrock-agentcore:us-east-1:123456789012:harness/name-a1b2c3d4e5";
  return checkString(path, arn, pattern, expected);
}

/** An agent of somebody's own making. */
export function checkAgentArn(path: string, arn: unknown): string {
  const pattern = new RegExp(`^${PARTITION}:[a-z0-9-]+:\\d{12}:runtime/[\\w-]{1,100}$`);
  return checkString(path, arn, pattern, RUNTIME_RULE);
}

const RUNTIME_RULE =
  "the ARN of an agent runtime, such as arn:aws:bedrock-agentcore:us-east-1:123456789012:runtime/name-a1b2c3d4e5";

/** A harness can be stopped, and have commands run, under its own ARN as under that of its runtime. */
export function checkRuntimeArn(path: string, arn: unknown): string {
  const pattern = new RegExp(`^${PARTITION}:[a-z0-9-]+:\\d{12}:(?:runtime|harness)/[\\w-]{1,100}$`);
  return checkString(path, arn, pattern, RUNTIME_RULE);
}

export function checkQualifier(path: string, qualifier: unknown): string {
  const expected = "the name of an endpoint: a letter, then up to 47 letters, digits and _";
  return checkString(path, qualifier, /^[a-zA-Z][a-zA-Z0-9_]{0,47}$/, expected);
}

export function checkSessionId(path: string, id: unknown): string {
  const expected =
    "33 to 100 letters, digits, - and _, the first a letter or digit; leave it out to have one made";
  return checkString(path, id, /^[a-zA-Z0-9][a-zA-Z0-9_-]{32,99}$/, expected);
}
