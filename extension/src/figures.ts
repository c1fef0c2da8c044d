/** `0.8 s`, `42 s`, `3 min 5 s`, `2 h 4 min`. Below ten seconds with one decimal, below 100 ms as milliseconds. */
export function duration(ms: number): string {
  if (ms < 100) return `${Math.round(ms)} ms`;
  if (ms < 9_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** `512 B`, `3.4 KB`, `34 KB`, in powers of 1,024 as file managers do. */
export function size(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${unit === 0 || value >= 9.95 ? Math.round(value) : value.toFixed(1)} ${units[unit] ?? ''}`;
}

/** `09:05:07` on the day of `now`, else `2026-03-01 09:05`, in local time: for lists that are narrow. */
export function shortTimestamp(epochMs: number, now: number): string {
  const [day = '', time = ''] = timestamp(epochMs).split(' ');
  return timestamp(now).startsWith(day) ? time : `${day} ${time.slice(0, 5)}`;
}

/** `2026-03-01 09:05:07` in local time. */
export function timestamp(epochMs: number): string {
  const at = new Date(epochMs);
  const two = (value: number) => String(value).padStart(2, '0');
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}
