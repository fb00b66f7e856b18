/** The timeline of a run: lanes by agent and child run. */
import {
  type KeyboardEvent,
  type PointerEvent,
  type RefObject,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import type { Span } from '../../folds/timeline.ts';
import { ScrollFrame } from '../../parts/scroll-frame.tsx';
import type { RunState } from '../run-state.ts';
import { clock, span as spanText } from '../words.ts';
import { useColours } from './colours.ts';
import { AXIS, type Drawn, drawTimeline, gutterOf, laneTops, type Scene, type Window } from './draw-timeline.ts';
import { useSize } from './use-size.ts';
import { fitted, moved, zoomed } from './window.ts';

export function TimelineTab({ state }: { readonly state: RunState }) {
  const { fold, selected, data } = state;
  const { timeline, totals } = fold;
  const frame = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [scrollTop, setScrollTop] = useState(0);
  /** Null: all of the run is shown, and what comes too. */
  const [chosen, setChosen] = useState<Window | null>(null);
  const { width, height } = useSize(frame);
  const colours = useColours();
  const now = useNow(data.phase === 'live' && state.search.at === undefined, totals.lastAt);
  const startedAt = totals.startedAt ?? timeline.spans.get(0)?.startAt ?? now;
  const window = chosen ?? fitted(startedAt, now);
  const isLit = useLit(state);
  const drawn = useDrawing(
    canvas,
    colours === null ? null : { timeline, window, width, height, scrollTop, colours, now, startedAt, selected, isLit },
  );
  const at = (x: number, y: number): Drawn | undefined =>
    drawn.current.findLast((one) => x >= one.x && x <= one.x + one.width && y >= one.y && y <= one.y + 18);
  const drag = useDrag({
    isOver: (x, y) => at(x, y) !== undefined,
    press: (x, y) => state.select(at(x, y)?.span.seq ?? null),
    move: (pixels) => setChosen(moved(window, (-pixels * (window.to - window.from)) / (width - gutterOf(width)))),
  });
  const zoom = (factor: number, share = 0.5): void => setChosen(zoomed(window, factor, share));
  useWheel(frame, (factor, x) => zoom(factor, Math.max(0, (x - gutterOf(width)) / (width - gutterOf(width)))));
  const onKey = (event: KeyboardEvent): void => {
    const act = keyActs[event.key];
    if (act === undefined || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    if (act.kind === 'zoom') zoom(act.factor);
    else if (act.kind === 'fit') setChosen(null);
    else state.select(neighbour(timeline.spans.length, (index) => timeline.spans.get(index), selected, act.by));
  };
  const current = timeline.spans.get(timeline.spans.lastWhere(({ seq }) => seq <= (selected ?? -1)));
  return (
    <div className="timeline">
      <TimelineTools
        said={current !== undefined && current.seq === selected ? describe(current) : ''}
        zoom={zoom}
        fit={() => setChosen(null)}
      />
      {/* The arrow keys move inside the drawing, so it is one widget for screen readers. */}
      <ScrollFrame
        ref={frame}
        className="run-scroll timeline-frame"
        role="application"
        aria-label={`Timeline with ${timeline.lanes.length} lanes and ${timeline.spans.length} spans`}
        onKeyDown={onKey}
        onScroll={(event) => setScrollTop(event.currentTarget.scrollTop)}
      >
        <div style={{ height: laneTops(timeline).height + AXIS }} className="timeline-space">
          <canvas ref={canvas} style={{ width, height }} {...drag} />
        </div>
      </ScrollFrame>
    </div>
  );
}

/** Draws the scene after each render, and remembers where each span is. */
function useDrawing(canvas: RefObject<HTMLCanvasElement | null>, scene: Scene | null): RefObject<readonly Drawn[]> {
  const drawn = useRef<readonly Drawn[]>([]);
  useLayoutEffect(() => {
    const element = canvas.current;
    const context = element?.getContext('2d') ?? null;
    if (element === null || context === null || scene === null || scene.width === 0) return;
    const scale = devicePixelRatio;
    element.width = scene.width * scale;
    element.height = scene.height * scale;
    context.setTransform(scale, 0, 0, scale, 0, 0);
    drawn.current = drawTimeline(context, scene);
  });
  return drawn;
}

interface TimelineToolsProps {
  /** The selected span, in words. */
  readonly said: string;
  zoom(factor: number): void;
  fit(): void;
}

function TimelineTools({ said, zoom, fit }: TimelineToolsProps) {
  return (
    <div className="timeline-tools">
      <Legend />
      <span className="grow" />
      <span className="second cut" aria-live="polite">
        {said}
      </span>
      <button type="button" className="button" onClick={() => zoom(2)} aria-label="Zoom out">
        −
      </button>
      <button type="button" className="button" onClick={() => zoom(0.5)} aria-label="Zoom in">
        +
      </button>
      <button type="button" className="button" onClick={fit}>
        Fit
      </button>
    </div>
  );
}

type KeyAct =
  | { kind: 'zoom'; factor: number }
  | { kind: 'fit' }
  | { kind: 'step'; by: 'next' | 'previous' | 'below' | 'above' };
const keyActs: Readonly<Record<string, KeyAct>> = {
  '+': { kind: 'zoom', factor: 0.5 },
  '=': { kind: 'zoom', factor: 0.5 },
  '-': { kind: 'zoom', factor: 2 },
  '0': { kind: 'fit' },
  ArrowRight: { kind: 'step', by: 'next' },
  ArrowLeft: { kind: 'step', by: 'previous' },
  ArrowDown: { kind: 'step', by: 'below' },
  ArrowUp: { kind: 'step', by: 'above' },
};

/** The span that a key leads to: the next one in time, or the nearest of another lane. */
function neighbour(
  count: number,
  get: (index: number) => Span | undefined,
  selected: number | null,
  by: 'next' | 'previous' | 'below' | 'above',
): number | null {
  let index = 0;
  while (index < count && get(index)?.seq !== selected) index += 1;
  const from = get(index);
  if (from === undefined) return get(by === 'previous' || by === 'above' ? count - 1 : 0)?.seq ?? selected;
  if (by === 'next' || by === 'previous') return get(index + (by === 'next' ? 1 : -1))?.seq ?? selected;
  let best: Span | undefined;
  for (let at = 0; at < count; at += 1) {
    const span = get(at);
    if (span === undefined || span.lane !== from.lane + (by === 'below' ? 1 : -1)) continue;
    if (best === undefined || Math.abs(span.startAt - from.startAt) < Math.abs(best.startAt - from.startAt))
      best = span;
  }
  return best?.seq ?? selected;
}

const describe = ({ kind, label, startAt, endAt, attempt, isFailed }: Span): string =>
  `${label} (${kind}${attempt > 1 ? `, attempt ${attempt}` : ''}${isFailed ? ', failed' : ''}) at ${clock(startAt)}, ${endAt === null ? 'not finished' : spanText(endAt - startAt)}`;

const legend = [
  ['Model', 'working'],
  ['Tool', 'done'],
  ['Waiting', 'waiting'],
  ['Step', 'none'],
  ['Failed', 'failed'],
] as const;

const Legend = () => (
  <ul className="legend">
    {legend.map(([name, tone]) => (
      <li key={name} data-tone={tone}>
        <span className={tone === 'waiting' ? 'swatch hatched' : 'swatch'} aria-hidden="true" />
        {name}
      </li>
    ))}
  </ul>
);

/** The present, once a second while the run goes on; else the time of the last row. */
function useNow(isRunning: boolean, lastAt: number): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!isRunning) return;
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [isRunning]);
  return isRunning ? Math.max(now, lastAt) : lastAt;
}

/** Causes and effects of the selection. */
function useLit({ selected, history, upTo, version }: RunState): ((seq: number) => boolean) | null {
  return useMemo(() => {
    if (selected === null || version === undefined) return null;
    const lit = new Set([
      selected,
      ...history.causes.ancestorsOf(selected),
      ...history.causes.descendantsOf(selected, upTo),
    ]);
    return (seq: number) => lit.has(seq);
  }, [selected, history, upTo, version]);
}

interface Drag {
  isOver(x: number, y: number): boolean;
  press(x: number, y: number): void;
  move(pixels: number): void;
}

/** A short press selects, a drag moves the window. */
function useDrag({ isOver, press, move }: Drag) {
  const from = useRef<{ x: number; y: number; hasMoved: boolean } | null>(null);
  return {
    onPointerDown: (event: PointerEvent<HTMLCanvasElement>) => {
      event.currentTarget.setPointerCapture(event.pointerId);
      from.current = { x: event.nativeEvent.offsetX, y: event.nativeEvent.offsetY, hasMoved: false };
    },
    onPointerMove: (event: PointerEvent<HTMLCanvasElement>) => {
      const { offsetX: x, offsetY: y } = event.nativeEvent;
      event.currentTarget.style.cursor = isOver(x, y) ? 'pointer' : 'grab';
      const start = from.current;
      if (start === null || (!start.hasMoved && Math.abs(x - start.x) < 4)) return;
      move(x - start.x);
      from.current = { x, y, hasMoved: true };
    },
    onPointerUp: () => {
      const start = from.current;
      from.current = null;
      if (start !== null && !start.hasMoved) press(start.x, start.y);
    },
  };
}

/** The wheel with the control key zooms, as in every map. React listens passively, which cannot stop the page's own zoom. */
function useWheel(frame: { readonly current: HTMLDivElement | null }, zoom: (factor: number, x: number) => void): void {
  const latest = useRef(zoom);
  latest.current = zoom;
  useEffect(() => {
    const on = frame.current;
    if (on === null) return;
    const listener = (event: WheelEvent): void => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      latest.current(event.deltaY > 0 ? 1.25 : 0.8, event.clientX - on.getBoundingClientRect().left);
    };
    on.addEventListener('wheel', listener, { passive: false });
    return () => on.removeEventListener('wheel', listener);
  }, [frame]);
}
