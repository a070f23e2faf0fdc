import { expect, it } from "vitest";
import { listMachineAddresses } from "../../platform/machine-names.ts";
import { isAnyAddress, listNetworkUrls } from "./any-address.ts";

it.each([
  ["0.0.0.0", true],
  ["0", true],
  ["::", true],
  ["::0", true],
  ["127.0.0.1", false],
  ["::1", false],
  ["vm", false],
  ["", false],
])("is every address of the machine: %j is %j", (host, isIt) => {
  expect(isAnyAddress(host)).toBe(isIt);
});

it("names every address that others reach, and only where the host does not say it", () => {
  const first = listMachineAddresses().find((one) => !one.includes(":"));
  const urls = listNetworkUrls("0.0.0.0", 80);
  expect(urls[0]).toBe(first === undefined ? undefined : `http://${first}:80`);
  expect(urls.filter((url) => url.includes("["))).toEqual([]);
  expect(listNetworkUrls("::", 80).filter((url) => url.includes("[fe80"))).toEqual([]);
  expect(listNetworkUrls("192.0.2.2", 80)).toEqual([]);
});
