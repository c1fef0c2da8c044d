import './canvas.css';
