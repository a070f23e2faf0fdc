import { InvalidArgumentError } from "commander";

/** Reads an option that is a whole number above 0. */
export function parsePositive(text: string): number {
  const number = Number(text);
  if (Number.isInteger(number) && number > 0) return number;
  throw new InvalidArgumentError("It has to be a whole number above 0.");
}

/** Reads an option that is a port; 0 is any that is free. */
export function parsePort(text: string): number {
  const number = Number(text);
  if (Number.isInteger(number) && number >= 0 && number < 65_536) return number;
  throw new InvalidArgumentError("It has to be a number from 0 to 65535.");
}
