/** The region and the account of the emulator. */
export interface AccountLocation {
  readonly region: string;
  readonly account: string;
}

export function formatHarnessArn(location: AccountLocation, harnessId: string): string {
  return `${formatArnPrefix(location)}:harness/${harnessId}`;
}

export function formatEndpointArn(
  location: AccountLocation,
  harnessId: string,
  endpoint: string,
): string {
  return `${formatHarnessArn(location, harnessId)}/endpoint/${endpoint}`;
}

/** The names of the runtime behind a harness. Only the harness may invoke this runtime. */
export function formatRuntimeNames(location: AccountLocation, harnessId: string) {
  const [name = "", suffix = ""] = harnessId.split("-");
  const runtimeName = `harness_${name}`;
  const runtimeId = `${runtimeName}-${suffix}`;
  return {
    runtimeName,
    runtimeId,
    runtimeArn: `${formatArnPrefix(location)}:runtime/${runtimeId}`,
  };
}

/** The ARN of the memory that the service creates for a harness without a configured memory. */
export function formatManagedMemoryArn(location: AccountLocation, harnessId: string): string {
  return `${formatArnPrefix(location)}:memory/harness_${harnessId}`;
}

function formatArnPrefix({ region, account }: AccountLocation): string {
  return `arn:${resolvePartition(region)}:bedrock-agentcore:${region}:${account}`;
}

function resolvePartition(region: string): string {
  if (region.startsWith("cn-")) return "aws-cn";
  return region.startsWith("us-gov-") ? "aws-us-gov" : "aws";
}
