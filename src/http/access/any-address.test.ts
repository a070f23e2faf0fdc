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
])("Whether %j means every address of the machine is %j", (host, isIt) => {
  expect(isAnyAddress(host)).toBe(isIt);
});

it("Network URLs list every reachable address of a server bound to all addresses, and none for another host", () => {
  const first = listMachineAddresses().find((one) => !one.includes(":"));
  const urls = listNetworkUrls("0.0.0.0", 80);
  expect(urls[0]).toBe(first === undefined ? undefined : `http://${first}:80`);
  expect(urls.filter((url) => url.includes("["))).toEqual([]);
  expect(listNetworkUrls("::", 80).filter((url) => url.includes("[fe80"))).toEqual([]);
  expect(listNetworkUrls("192.0.2.2", 80)).toEqual([]);
});
