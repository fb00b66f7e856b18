/** A figure: a measured value, the limit measured beside it, and whether it reaches its bar. */
import { availableParallelism } from 'node:os';
import { median } from './statistics.ts';

/** The bar of a figure: its value, or its ratio to the limit, at least, at most, or strictly under an amount. */
export interface Bar {
  readonly of: 'value' | 'ratio';
  readonly is: '>=' | '<=' | '<';
  readonly amount: number;
}

/** One round: the figure and its limit, measured back to back. */
export interface Sample {
  readonly value: number;
  readonly limit: number;
}

/** Commits acknowledged during a measurement, and cache flushes the device completed in the same period. */
export interface Durability {
  readonly commits: number;
  readonly flushes: number;
}

export interface Figure {
  readonly name: string;
  readonly unit: string;
  readonly limitName: string;
  readonly bar: Bar;
  readonly samples: readonly Sample[];
  /** Set for figures that claim durability. They fail if the device flushed fewer times than the server committed. */
  readonly durability?: Durability;
  /** Notes needed to judge the number, e.g. that the load generator had no spare core. */
  readonly notes?: readonly string[];
}

/** One line of output. */
export interface FigureLine {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly limitName: string;
  readonly limitValue: number;
  readonly ratio: number;
  readonly bar: string;
  readonly pass: boolean;
  /** Lowest and highest round of the value the bar judges. */
  readonly range: readonly [number, number];
  readonly flushes?: number;
  readonly commits?: number;
  readonly flushesPerCommit?: number;
  readonly notes?: readonly string[];
  readonly node: string;
  readonly cores: number;
  readonly rounds: number;
}

/**
 * Medians over the rounds. The ratio is the median of the per-round ratios, so that drift between rounds cancels out.
 */
export function figureLine(figure: Figure): FigureLine {
  const { bar, samples, durability } = figure;
  const judged = samples.map((sample) => (bar.of === 'value' ? sample.value : sample.value / sample.limit));
  // One unmeasurable round fails the figure, because a median would hide it.
  const reached = !judged.some(Number.isNaN) && reaches(median(judged), bar);
  const durable = durability === undefined || (durability.commits > 0 && durability.flushes >= durability.commits);
  const notes = [...(figure.notes ?? []), ...(durable ? [] : ['fewer device flushes than commits: not durable'])];
  return {
    name: figure.name,
    value: rounded(median(samples.map((sample) => sample.value))),
    unit: figure.unit,
    limitName: figure.limitName,
    limitValue: rounded(median(samples.map((sample) => sample.limit))),
    ratio: rounded(median(samples.map((sample) => sample.value / sample.limit))),
    bar: `${bar.of} ${bar.is} ${bar.amount}`,
    pass: reached && durable,
    range: [rounded(Math.min(...judged)), rounded(Math.max(...judged))],
    ...(durability && {
      flushes: durability.flushes,
      commits: durability.commits,
      flushesPerCommit: rounded(durability.flushes / durability.commits),
    }),
    ...(notes.length > 0 && { notes }),
    node: process.version,
    cores: availableParallelism(),
    rounds: samples.length,
  };
}

/** Commits and flushes summed over all rounds of a figure. */
export function totalDurability(parts: readonly Durability[]): Durability {
  const sum = (pick: (part: Durability) => number) => parts.reduce((all, part) => all + pick(part), 0);
  return { commits: sum((part) => part.commits), flushes: sum((part) => part.flushes) };
}

function reaches(amount: number, bar: Bar): boolean {
  switch (bar.is) {
    case '>=':
      return amount >= bar.amount;
    case '<=':
      return amount <= bar.amount;
    case '<':
      return amount < bar.amount;
  }
}

/** Four significant digits: a shared machine does not measure more precisely. */
function rounded(value: number): number {
  return Number(value.toPrecision(4));
}
