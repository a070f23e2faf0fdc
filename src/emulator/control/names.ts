/** Where the emulator pretends to be. */
export interface Place {
  readonly region: string;
  readonly account: string;
}

export function harnessArn(place: Place, harnessId: string): string {
  return `${prefix(place)}:harness/${harnessId}`;
}

export function endpointArn(place: Place, harnessId: string, endpoint: string): string {
  return `${harnessArn(place, harnessId)}/endpoint/${endpoint}`;
}

/** The runtime that a harness is made of. It has a name of its own, and only its harness may invoke it. */
export function runtimeNames(place: Place, harnessId: string) {
  const [name = "", suffix = ""] = harnessId.split("-");
  const runtimeName = `harness_${name}`;
  const runtimeId = `${runtimeName}-${suffix}`;
  return { runtimeName, runtimeId, runtimeArn: `${prefix(place)}:runtime/${runtimeId}` };
}

/** The memory that the service makes for a harness that names none. */
export function managedMemoryArn(place: Place, harnessId: string): string {
  return `${prefix(place)}:memory/harness_${harnessId}`;
}

function prefix({ region, account }: Place): string {
  return `arn:${partitionOf(region)}:bedrock-agentcore:${region}:${account}`;
}

function partitionOf(region: string): string {
  if (region.startsWith("cn-")) return "aws-cn";
  return region.startsWith("us-gov-") ? "aws-us-gov" : "aws";
}
