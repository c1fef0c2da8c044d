import {
  useCallback,
  useEffect,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
  useState,
  type ReactNode,
  type Ref,
} from 'react';
import { rowWindow, scrollTopOfRow } from './windowing.ts';

/** For scrolling from outside. */
export interface WindowedRowsHandle {
  readonly showRow: (row: number) => void;
  readonly showEnd: () => void;
}

export interface WindowedRowsProps {
  readonly label: string;
  readonly role: 'log' | 'region' | 'table';
  readonly rows: number;
  readonly rowPx: number;
  readonly handle?: Ref<WindowedRowsHandle>;
  /** Stands above the rows and scrolls sideways with them. */
  readonly head?: ReactNode;
  readonly row: (index: number) => ReactNode;
  /** Told which rows are drawn, after each change. */
  readonly onWindow?: (first: number, end: number) => void;
  /** Told when a person scrolls: whether the end is in view. */
  readonly onScrolled?: (atEnd: boolean) => void;
}

/** A list of any length that keeps only the rows in view in the page. The keyboard scrolls it. */
export function WindowedRows(props: WindowedRowsProps) {
  const { label, role, rows, rowPx, handle, head, row, onWindow, onScrolled } = props;
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ scrollTop: 0, height: 0 });
  const measure = useCallback(() => {
    const element = box.current;
    if (element) setView({ scrollTop: element.scrollTop, height: element.clientHeight });
  }, []);
  useLayoutEffect(() => {
    measure();
    const observer = new ResizeObserver(measure);
    if (box.current) observer.observe(box.current);
    return () => observer.disconnect();
  }, [measure]);
  useImperativeHandle(
    handle,
    () => ({
      showRow: (index) => {
        const element = box.current;
        if (!element) return;
        const third = Math.floor(element.clientHeight / rowPx / 3);
        element.scrollTop = scrollTopOfRow(Math.max(0, index - third), element.clientHeight, rows, rowPx);
        measure();
      },
      showEnd: () => {
        if (box.current) box.current.scrollTop = box.current.scrollHeight;
        measure();
      },
    }),
    [rows, rowPx, measure],
  );
  const { heightPx, first, end, topPx } = rowWindow(view.scrollTop, view.height, rows, rowPx);
  useEffect(() => onWindow?.(first, end), [first, end, rows, onWindow]);
  const shown = [];
  for (let index = first; index < end; index++) shown.push(row(index));
  return (
    <div
      className="windowed"
      ref={box}
      role={role}
      aria-label={label}
      aria-live={role === 'log' ? 'off' : undefined}
      aria-rowcount={role === 'table' ? rows + 1 : undefined}
      tabIndex={0}
      onScroll={(event) => {
        measure();
        const { scrollTop, clientHeight, scrollHeight } = event.currentTarget;
        onScrolled?.(scrollTop + clientHeight >= scrollHeight - rowPx);
      }}
    >
      {head}
      <div className="windowed-all" style={{ height: heightPx }}>
        <div className="windowed-shown" style={{ transform: `translateY(${topPx}px)` }}>
          {shown}
        </div>
      </div>
    </div>
  );
}
