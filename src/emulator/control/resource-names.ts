/** Where the emulator pretends to be. */
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

/** The runtime that a harness is made of. It has a name of its own, and only its harness may invoke it. */
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

/** The memory that the service makes for a harness that names none. */
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
