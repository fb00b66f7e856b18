/** Process metrics for a collector. Prometheus gets the same and more from its own library. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Instrument } from './instruments.ts';
import type { Family } from './meter.ts';

const gauge = (name: string, unit: string, description: string): Instrument => ({
  name,
  kind: 'gauge',
  unit,
  description,
  attributes: [],
});

const delayP99 = gauge('nodejs.eventloop.delay.p99', 's', 'How late the event loop was in 99 of 100 turns at most.');
const delayMax = gauge('nodejs.eventloop.delay.max', 's', 'How late the event loop was at worst.');
const memory = gauge('process.memory.usage', 'By', 'Memory the process holds.');
const cpu: Instrument = { ...gauge('process.cpu.time', 's', 'Time the process used a processor.'), kind: 'counter' };

export interface ProcessFigures {
  /** Delays cover the time since the last reading. */
  read(): readonly Family[];
  stop(): void;
}

export function startProcessFigures(): ProcessFigures {
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();
  return {
    read() {
      const { user, system } = process.cpuUsage();
      const families = [
        figure(delayP99, delay.percentile(99) / 1e9),
        figure(delayMax, delay.max / 1e9),
        figure(memory, process.memoryUsage.rss()),
        figure(cpu, (user + system) / 1e6),
      ];
      delay.reset();
      return families;
    },
    stop: () => void delay.disable(),
  };
}

const figure = (instrument: Instrument, value: number): Family => ({ instrument, points: [{ attributes: {}, value }] });
