import { isAbsent, objectAt, textAt } from "./fields.ts";
import { wrongField } from "./refusal.ts";

/** At most 16 pairs: names of up to 64 characters, values of up to 512. */
export function readMetadata(metadata: unknown): { readonly [name: string]: string } {
  if (isAbsent(metadata)) return {};
  const entries = Object.entries(objectAt(metadata, "metadata"));
  if (entries.length > 16)
    throw wrongField("metadata", "has more than 16 pairs; send fewer", "too_many_entries");
  const read = entries.map(([name, value]) => {
    if (name.length > 64)
      throw wrongField(`metadata.${name}`, "has a name of more than 64 characters");
    return [name, textAt(value, `metadata.${name}`, 512)] as const;
  });
  return Object.fromEntries(read);
}
