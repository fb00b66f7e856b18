/** Draws the lanes of a run on a canvas: only the spans that can be seen. */
import type { Span, Timeline } from '../../folds/timeline.ts';
import { shortAgent } from '../../parts/figures.ts';
import { span as spanText } from '../words.ts';
import type { Colours } from './colours.ts';

/** The room for the names of lanes. */
export const gutterOf = (width: number): number => (width < 640 ? 92 : 168);
export const AXIS = 24;
const ROW = 18;
const PAD = 6;
/** A span is never drawn narrower. */
const THINNEST = 3;

/** The part of the time that is shown, in ms since the epoch. */
export interface Window {
  readonly from: number;
  readonly to: number;
}

export interface Scene {
  readonly timeline: Timeline;
  readonly window: Window;
  readonly width: number;
  readonly height: number;
  readonly scrollTop: number;
  readonly colours: Colours;
  /** Where unfinished spans end. */
  readonly now: number;
  readonly startedAt: number;
  readonly selected: number | null;
  /** Whether an event is a cause or an effect of the selection. Null: nothing is selected. */
  readonly isLit: ((seq: number) => boolean) | null;
}

/** A span as it was drawn, to find it under the pointer. */
export interface Drawn {
  readonly span: Span;
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

/** The top of each lane, and the height of all. */
export function laneTops(timeline: Timeline): { readonly tops: readonly number[]; readonly height: number } {
  let top = 0;
  const tops = timeline.lanes.map(({ rows }) => {
    const own = top;
    top += rows * ROW + 2 * PAD;
    return own;
  });
  return { tops, height: top };
}

export function drawTimeline(context: CanvasRenderingContext2D, scene: Scene): readonly Drawn[] {
  const { width, height, colours } = scene;
  const gutter = gutterOf(width);
  context.clearRect(0, 0, width, height);
  context.font = `12px ${colours.font}`;
  context.textBaseline = 'middle';
  const { tops } = laneTops(scene.timeline);
  const yOf = (lane: number): number => AXIS + (tops[lane] ?? 0) - scene.scrollTop;
  drawLanes(context, scene, yOf);
  context.save();
  context.beginPath();
  context.rect(gutter, AXIS, width - gutter, height - AXIS);
  context.clip();
  const drawn = drawSpans(context, scene, yOf);
  context.restore();
  drawAxis(context, scene);
  return drawn;
}

function drawLanes(context: CanvasRenderingContext2D, scene: Scene, yOf: (lane: number) => number): void {
  const { colours, width, height, timeline } = scene;
  for (const [index, lane] of timeline.lanes.entries()) {
    const y = yOf(index);
    const tall = lane.rows * ROW + 2 * PAD;
    if (y > height || y + tall < AXIS) continue;
    context.fillStyle = colours.line;
    context.fillRect(0, y + tall - 1, width, 1);
    context.fillStyle = lane.kind === 'agent' ? colours.ink : colours.ink2;
    const name = lane.kind === 'agent' ? shortAgent(lane.name) : (lane.label ?? 'Workflow');
    context.fillText(cut(context, name, gutterOf(width) - 16), 12, y + PAD + ROW / 2);
  }
}

function drawSpans(context: CanvasRenderingContext2D, scene: Scene, yOf: (lane: number) => number): readonly Drawn[] {
  const { timeline, window, now, height } = scene;
  const gutter = gutterOf(scene.width);
  const perMs = (scene.width - gutter) / Math.max(1, window.to - window.from);
  const drawn: Drawn[] = [];
  for (const span of timeline.spans) {
    // Spans are in the order of their starts.
    if (span.startAt > window.to) break;
    const end = span.endAt ?? Math.max(now, span.startAt);
    if (end < window.from) continue;
    const y = yOf(span.lane) + PAD + span.row * ROW;
    if (y > height || y + ROW < AXIS) continue;
    const x = gutter + (Math.max(span.startAt, window.from - 1_000) - window.from) * perMs;
    const width = Math.max(
      THINNEST,
      Math.min((end - Math.max(span.startAt, window.from - 1_000)) * perMs, scene.width * 2),
    );
    drawSpan(context, scene, { span, x, y, width });
    drawn.push({ span, x, y, width });
  }
  return drawn;
}

function drawSpan(context: CanvasRenderingContext2D, scene: Scene, { span, x, y, width }: Drawn): void {
  const { colours, selected, isLit } = scene;
  const tone = span.isFailed ? colours.failed : colours[tones[span.kind]];
  context.globalAlpha = isLit === null || isLit(span.seq) ? 1 : 0.35;
  context.fillStyle =
    span.kind === 'waiting' ? colours.hatch : span.isFailed ? colours.failedSoft : colours[`${tones[span.kind]}Soft`];
  context.beginPath();
  context.roundRect(x, y + 1, width, ROW - 3, 3);
  context.fill();
  context.strokeStyle = span.seq === selected ? colours.accent : tone;
  context.lineWidth = span.seq === selected ? 2 : 1;
  context.stroke();
  if (width > 32) {
    context.fillStyle = tone;
    // Bars are short: the namespace of a tool goes first.
    const name = span.kind === 'tool' ? span.label.slice(span.label.lastIndexOf(':') + 1) : span.label;
    const label = span.attempt > 1 ? `${name} (${span.attempt})` : name;
    context.fillText(cut(context, label, width - 8), Math.max(x, gutterOf(scene.width)) + 4, y + ROW / 2);
  }
  context.globalAlpha = 1;
}

const tones = { thinking: 'working', tool: 'done', waiting: 'waiting', step: 'none', child: 'working' } as const;

/** Marks of time since the start of the run, at round distances. */
function drawAxis(context: CanvasRenderingContext2D, { window, width, colours, startedAt }: Scene): void {
  context.fillStyle = colours.panel;
  context.fillRect(0, 0, width, AXIS);
  context.fillStyle = colours.line;
  context.fillRect(0, AXIS - 1, width, 1);
  const gutter = gutterOf(width);
  const length = Math.max(1, window.to - window.from);
  const step = roundStep((length / Math.max(1, width - gutter)) * 96);
  const first = Math.ceil((window.from - startedAt) / step) * step;
  context.fillStyle = colours.ink3;
  for (let at = first; at <= window.to - startedAt; at += step) {
    const x = gutter + ((startedAt + at - window.from) / length) * (width - gutter);
    context.fillRect(x, AXIS - 5, 1, 4);
    const text = spanText(at);
    // The last one may have no room.
    if (x + 4 + context.measureText(text).width <= width) context.fillText(text, x + 4, AXIS / 2);
  }
}

/** The next of 1, 2, 5, 10, 20, 50, … */
function roundStep(ms: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, ms)));
  const times = [1, 2, 5, 10].find((factor) => factor * power >= ms) ?? 10;
  return times * power;
}

/** A text as long as the width allows. Names are short, so a few tries suffice. */
function cut(context: CanvasRenderingContext2D, text: string, width: number): string {
  const shown = text.slice(0, 80);
  if (context.measureText(shown).width <= width) return shown;
  const perLetter = context.measureText(shown).width / shown.length;
  const letters = Math.floor(width / perLetter) - 1;
  return letters < 2 ? '' : `${shown.slice(0, letters)}…`;
}
