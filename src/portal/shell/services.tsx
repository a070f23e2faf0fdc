import { createContext, useContext, useSyncExternalStore, type ReactNode } from "react";
import type { Services } from "../browser/browser-services.ts";
import type { ValueStore } from "../live/value-store.ts";

const ServicesContext = createContext<Services | null>(null);

export function ServicesProvider({
  services,
  children,
}: {
  readonly services: Services;
  readonly children: ReactNode;
}): ReactNode {
  return <ServicesContext value={services}>{children}</ServicesContext>;
}

export function useServices(): Services {
  const services = useContext(ServicesContext);
  if (services === null) throw new Error("A view of the shell is not inside a ServicesProvider");
  return services;
}

/** Renders the view again after each change of the store. */
export function useStore<Value>({ subscribe, get }: ValueStore<Value>): Value {
  return useSyncExternalStore(subscribe, get);
}
