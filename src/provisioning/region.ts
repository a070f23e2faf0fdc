import { parseArn } from "../aws/arn.ts";
import { profileRegion } from "../aws/profile-region.ts";
import { SpanlineError } from "../domain/errors.ts";

export interface RegionSources {
  readonly region?: string | undefined;
  /** What the call is about, which may be an ARN. */
  readonly reference?: string | undefined;
  readonly profile?: string | undefined;
  /** Where nothing else says it: an emulator is nowhere in particular. */
  readonly otherwise?: string | undefined;
}

/** The region to talk to. There is no region for everybody: what is made in the wrong one is not found again. */
export async function regionFrom(
  { region, reference, profile, otherwise }: RegionSources,
  env: { readonly [name: string]: string | undefined },
): Promise<string> {
  const inArn = reference === undefined ? undefined : parseArn(reference)?.region;
  if (inArn !== undefined && region !== undefined && inArn !== region) {
    throw unusable(`The region is ${region}, but ${reference} is in ${inArn}`);
  }
  const known = region ?? inArn ?? (env["AWS_REGION"] || env["AWS_DEFAULT_REGION"] || undefined);
  const found = known ?? (await profileRegion(env, profile)) ?? otherwise;
  if (found !== undefined) return found;
  throw unusable("No region is known: give --region, or set AWS_REGION");
}

function unusable(message: string): SpanlineError {
  return new SpanlineError("invalid_option", message, { details: { path: "region" } });
}
