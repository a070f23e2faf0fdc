import { parseArn } from "../aws/arn.ts";
import { readProfileRegion } from "../aws/profile-region.ts";
import { SpanlineError } from "../domain/errors.ts";

export interface RegionSources {
  readonly region?: string | undefined;
  /** The subject of the command, possibly an ARN. */
  readonly reference?: string | undefined;
  readonly profile?: string | undefined;
  /** Used if no other source names a region: an emulator has no region. */
  readonly fallback?: string | undefined;
}

/**
 * The region to use. There is deliberately no built-in default: a harness created in the wrong region is not found
 * again.
 */
export async function resolveRegion(
  { region, reference, profile, fallback }: RegionSources,
  env: { readonly [name: string]: string | undefined },
): Promise<string> {
  const arnRegion = reference === undefined ? undefined : parseArn(reference)?.region;
  if (arnRegion !== undefined && region !== undefined && arnRegion !== region) {
    throw createRegionError(`The region is ${region}, but ${reference} is in ${arnRegion}`);
  }
  const configured =
    region ?? arnRegion ?? (env["AWS_REGION"] || env["AWS_DEFAULT_REGION"] || undefined);
  const resolved = configured ?? (await readProfileRegion(env, profile)) ?? fallback;
  if (resolved !== undefined) return resolved;
  throw createRegionError("No region is set. Fix: pass --region, or set AWS_REGION");
}

function createRegionError(message: string): SpanlineError {
  return new SpanlineError("invalid_option", message, { details: { path: "region" } });
}
