/** Reports an outage of the collector once when it begins and once when it is over, however often a send fails in between. */
import type { Report } from '../engine/ports.ts';

/** What is exported and to where, as the notices name it. */
export interface ExportRoute {
  readonly signal: 'spans' | 'metrics';
  readonly endpoint: string;
}

export class Outage {
  readonly #route: ExportRoute;
  readonly #report: Report;
  #on = false;

  constructor(route: ExportRoute, report: Report) {
    this.#route = route;
    this.#report = report;
  }

  get isOn(): boolean {
    return this.#on;
  }

  begin(error: unknown): void {
    if (this.#on) return;
    this.#on = true;
    // The text alone: a collector's error may carry its request, and that holds the credentials of the export.
    const reason = error instanceof Error ? error.message || error.name : String(error);
    this.#report({ level: 'warn', event: 'telemetry.export_failed', facts: { ...this.#route, reason } });
  }

  end(): void {
    if (!this.#on) return;
    this.#on = false;
    this.#report({ level: 'info', event: 'telemetry.export_recovered', facts: { ...this.#route } });
  }
}
