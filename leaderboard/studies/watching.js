// Plays the clips of an item together and tells Python which of them were played from start to end.
const SLACK = 0.4;

function clip(prefix, letter) {
  return document.querySelector(`.st-key-${prefix}${letter} video`);
}

function isWatched(video) {
  if (!video || !video.duration) return false;
  let seconds = 0;
  for (let part = 0; part < video.played.length; part += 1) {
    seconds += video.played.end(part) - video.played.start(part);
  }
  return seconds >= video.duration - SLACK;
}

export default function (component) {
  const { data, parentElement, setStateValue } = component;
  const seen = new Set(data.before);
  const status = parentElement.querySelector(".seen");

  const tell = () => {
    const marks = data.letters.map((letter) => `${letter} ${seen.has(letter) ? "✓" : "–"}`);
    status.textContent = `Watched to the end: ${marks.join("  ")}`;
  };

  const look = () => {
    let changed = false;
    for (const letter of data.letters) {
      if (!seen.has(letter) && isWatched(clip(data.prefix, letter))) {
        seen.add(letter);
        changed = true;
      }
    }
    tell();
    if (changed) setStateValue("watched", [...seen].sort());
  };

  parentElement.querySelector(".play").onclick = () => {
    for (const letter of data.letters) {
      const video = clip(data.prefix, letter);
      if (video) {
        video.currentTime = 0;
        video.play();
      }
    }
  };
  parentElement.querySelector(".stop").onclick = () => {
    for (const letter of data.letters) clip(data.prefix, letter)?.pause();
  };

  tell();
  const timer = setInterval(look, 250);
  return () => clearInterval(timer);
}
